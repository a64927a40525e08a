#include "client/python/native/array.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "gridfold/element_type.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

client::ResidentArray ToResident(const py::tuple& array) {
  client::ResidentArray resident{.name = array[0].cast<std::string>()};
  if (const auto count = array[2].cast<int64_t>(); count >= 0) {
    resident.slice = {array[1].cast<uint64_t>(), static_cast<uint64_t>(count)};
  }
  return resident;
}

client::RegionSlice ToSlice(const py::tuple& source) {
  const auto place = source[0].cast<py::tuple>();
  return {.name = place[0].cast<std::string>(),
          .offset_bytes = place[1].cast<uint64_t>(),
          .element_type = static_cast<client::ElementType>(source[1].cast<int>()),
          .shape = source[2].cast<std::vector<uint64_t>>()};
}

}  // namespace

client::ArrayInput ToInput(const py::tuple& source) {
  if (source.size() == 3 && py::isinstance<py::tuple>(source[0])) {
    const auto place = source[0].cast<py::tuple>();
    if (place.size() == 2) return ToSlice(source);
    return ToResident(place);
  }
  return ToView(source);
}

client::ArrayView ViewOf(const py::array& array, int number) {
  const auto element_type = static_cast<client::ElementType>(number);
  const size_t element_bytes = client::ElementSizeBytes(element_type);
  if (element_bytes == 0 || static_cast<size_t>(array.itemsize()) != element_bytes) {
    throw py::type_error("the element type is not the array's");
  }
  return {element_type, array.data(), static_cast<uint64_t>(array.size())};
}

client::ArrayView ToView(const py::tuple& source) {
  if (source.size() != 3 || !py::isinstance<py::array>(source[0])) {
    throw py::type_error("a source is (array, element type, shape)");
  }
  const auto array = py::reinterpret_borrow<py::array>(source[0]);
  if ((array.flags() & py::array::c_style) == 0) {
    throw py::type_error("the array is not C-contiguous");
  }
  const client::ArrayView view = ViewOf(array, source[1].cast<int>());
  if (source[2].is_none()) return view;
  return view.WithShape(source[2].cast<std::vector<uint64_t>>());
}

client::Grouping ToGrouping(const std::vector<int32_t>& axes) {
  if (axes.size() == 1 && axes[0] < 0) return client::WholeArray{};
  if (axes.size() == 1) return client::Axis{static_cast<uint32_t>(axes[0])};
  return client::Axes{axes};
}

py::array Adopt(std::string bytes) {
  auto owner = std::make_unique<std::string>(std::move(bytes));
  std::string* const text = owner.get();
  const py::capsule base(owner.release(),
                         [](void* owned) { delete static_cast<std::string*>(owned); });
  return py::array_t<uint8_t>(text->size(), reinterpret_cast<const uint8_t*>(text->data()), base);
}

py::array Adopt(std::vector<bool> values) {
  py::array_t<bool> array(static_cast<py::ssize_t>(values.size()));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

py::array Adopt(client::StatisticValues values) {
  return std::visit([](auto& held) { return Adopt(std::move(held)); }, values);
}

}  // namespace gridfold::python
