#include "client/hdf5/dataset_list.h"

#include "absl/strings/str_cat.h"
#include "client/hdf5/element_layout.h"
#include "client/hdf5/identifier.h"

namespace gridfold::client {
namespace {

constexpr size_t kObjectsMax = 100'000;

struct Visit {
  std::vector<std::string> names = {};
  size_t object_count = 0;
};

bool HasElements(hid_t file, const char* name) {
  const Identifier dataset(H5Dopen2(file, name, H5P_DEFAULT));
  if (!dataset.is_valid()) return false;
  const Identifier type(H5Dget_type(dataset.get()));
  return type.is_valid() && LayoutOf(type.get()).ok();
}

herr_t VisitObject(hid_t file, const char* name, const H5O_info_t* info, void* data) {
  Visit& visit = *static_cast<Visit*>(data);
  if (++visit.object_count > kObjectsMax) return -1;
  if (info->type == H5O_TYPE_DATASET && HasElements(file, name)) {
    visit.names.push_back(absl::StrCat("/", name));
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListDatasets(hid_t file) {
  Visit visit;
#if H5_VERSION_GE(1, 12, 0)
  const herr_t result =
      H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, VisitObject, &visit, H5O_INFO_BASIC);
#else
  const herr_t result =
      H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, VisitObject, &visit, H5O_INFO_BASIC);
#endif
  if (visit.object_count > kObjectsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("HDF5: there are more than ", kObjectsMax, " objects in the file"));
  }
  if (result < 0) return LibraryError("its objects cannot be listed");
  return visit.names;
}

}  // namespace gridfold::client
