#include "client/python/native/array.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "gridfold/element_type.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

py::handle array_class;  // numpy.ndarray

client::RegionSlice ToSlice(const py::tuple& source) {
  const auto place = source[0].cast<py::tuple>();
  return {.name = place[0].cast<std::string>(),
          .offset_bytes = place[1].cast<uint64_t>(),
          .element_type = static_cast<client::ElementType>(source[1].cast<int>()),
          .shape = source[2].cast<std::vector<uint64_t>>()};
}

}  // namespace

client::ResidentArray ToResident(const py::tuple& place) {
  client::ResidentArray array{.name = place[0].cast<std::string>()};
  if (py::isinstance<py::tuple>(place[1])) {
    array.view.emplace().first = place[1].cast<std::vector<uint64_t>>();
    using Dimension = std::tuple<uint32_t, uint64_t, int64_t>;
    for (const auto& [axis, count, step] : place[2].cast<std::vector<Dimension>>()) {
      array.view->dimensions.push_back({.axis = axis, .count = count, .step = step});
    }
  } else if (const auto count = place[2].cast<int64_t>(); count >= 0) {
    array.slice = {place[1].cast<uint64_t>(), static_cast<uint64_t>(count)};
  }
  return array;
}

client::ArrayInput ToInput(const py::tuple& source) {
  if (source.size() == 3 && py::isinstance<py::tuple>(source[0])) {
    const auto place = source[0].cast<py::tuple>();
    if (place.size() == 2) return ToSlice(source);
    return ToResident(place);
  }
  return ToView(source);
}

std::optional<client::ArrayView> ViewOf(const py::object& array, int number) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const auto item_bytes = static_cast<size_t>(buffer.itemsize);
  const auto size_bytes = static_cast<uint64_t>(buffer.len);
  const void* const data = buffer.buf;
  // The elements stay where they are as long as the array does.
  PyBuffer_Release(&buffer);
  const auto element_type = static_cast<client::ElementType>(number);
  const size_t element_bytes = client::ElementSizeBytes(element_type);
  if (element_bytes == 0 || item_bytes != element_bytes) {
    throw py::type_error("the element type is not the array's");
  }
  return client::ArrayView(element_type, data, size_bytes / element_bytes);
}

client::ArrayView ToView(const py::tuple& source) {
  if (source.size() != 3 || PyObject_CheckBuffer(py::object(source[0]).ptr()) == 0) {
    throw py::type_error("a source is (array, element type, shape)");
  }
  const std::optional<client::ArrayView> view = ViewOf(source[0], source[1].cast<int>());
  if (!view) throw py::type_error("the array is not C-contiguous");
  if (source[2].is_none()) return *view;
  return view->WithShape(source[2].cast<std::vector<uint64_t>>());
}

client::Grouping ToGrouping(const std::vector<int32_t>& axes) {
  if (axes.size() == 1 && axes[0] < 0) return client::WholeArray{};
  if (axes.size() == 1) return client::Axis{static_cast<uint32_t>(axes[0])};
  return client::Axes{axes};
}

void AddArrays(py::module_& module) {
  py::class_<ResultMemory>(module, "ResultMemory", py::buffer_protocol())
      .def_buffer([](ResultMemory& memory) {
        return py::buffer_info(memory.data, 1, py::format_descriptor<uint8_t>::format(), 1,
                               {memory.size_bytes}, {1});
      });
  // Kept for ever: arrays are made until the interpreter ends.
  array_class = py::object(py::module_::import("numpy").attr("ndarray")).release();
}

py::object MakeArray(const char* dtype, uint64_t count, ResultMemory memory) {
  return array_class(py::make_tuple(count), dtype, std::move(memory));
}

py::object Adopt(std::string bytes) {
  const auto owner = std::make_shared<std::string>(std::move(bytes));
  return MakeArray(DtypeOf<uint8_t>(), owner->size(), {owner, owner->data(), owner->size()});
}

py::object Adopt(const std::vector<bool>& values) {
  return Adopt(std::vector<uint8_t>(values.begin(), values.end())).attr("view")("?");
}

py::object Adopt(client::StatisticValues values) {
  return std::visit([](auto& held) { return Adopt(std::move(held)); }, values);
}

}  // namespace gridfold::python
