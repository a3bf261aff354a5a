// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of the backend's host code to the GPU. The host code includes no other header about the GPU.
// Open this file to call the CUDA runtime. There are two implementations: runtime_cuda.cpp, and
// tests/support/cuda_emulation for the host.
//
// Work on a stream runs later, in order. All inputs and outputs of the work must live until a wait for the
// stream. Until then, host memory must not change. Every error is a Failure that names the call and the
// sizes. A later call may throw the error of a kernel. Only one thread at a time may use a handle.
#pragma once

#include "kernels/cuda/bf16.h"
#include "kernels/cuda/kernel_budget.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace spanscope::cuda {

/// Properties of one GPU.
struct DeviceProperties {
  std::string name;
  int major = 0;  ///< major version of the compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::size_t memoryBytes = 0;
  std::size_t sharedBytesPerBlock = 0;  ///< max for a kernel that requests it
  int driverVersion = 0;  ///< 1000 · major + 10 · minor of the newest CUDA version that the driver supports
  int runtimeVersion = 0;            ///< version of the toolkit of this build, in the same form
  std::string productsVersion = {};  ///< of the library of MatrixProducts, "cuBLAS 13.0.0"
  std::string driverRelease = {};    ///< the driver's own version, "580.65.06"; empty: unknown.
  /// The driver must compile kernels for the GPU, even if they contain compiled code.
  bool isToldToCompile = false;
};

/// Returns the number of GPUs. Throws Failure if there is no driver, or if the driver is too old.
int deviceCount();

/// A GPU. Copies of the object mean the same GPU. Opening a GPU and reading its properties uses no GPU
/// memory. Every other function makes a context on the GPU, which takes some hundred megabytes.
class Device {
 public:
  /// Throws Failure if there is no such GPU.
  static Device open(int index);

  const DeviceProperties& properties() const;
  std::size_t freeBytes() const;  ///< without the context, which this call makes

  struct State;
  State& state() const { return *m_state; }

 private:
  explicit Device(std::shared_ptr<State> state) : m_state(std::move(state)) {}
  std::shared_ptr<State> m_state;
};

/// Memory of a GPU, at a multiple of 256 bytes, with undefined contents. Freeing it waits for the GPU.
class DeviceMemory {
 public:
  DeviceMemory();  ///< without memory
  /// Throws Failure if the memory cannot be allocated. `what` is its purpose, for the message.
  DeviceMemory(const Device& device, std::size_t bytes, const std::string& what);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;

  std::size_t bytes() const;
  void* data() const;
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }

  struct State;

 private:
  std::unique_ptr<State> m_state;
};

/// Memory of the host that the GPU can read and write directly.
class PinnedMemory {
 public:
  PinnedMemory();  ///< without memory
  PinnedMemory(const Device& device, std::size_t bytes, const std::string& what);
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&&) noexcept;
  PinnedMemory& operator=(PinnedMemory&&) noexcept;

  std::size_t bytes() const;
  void* data() const;
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }

  struct State;

 private:
  std::unique_ptr<State> m_state;
};

/// A point in the work of a stream.
class Event {
 public:
  explicit Event(const Device& device);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  bool reached() const;      ///< true if the event was never recorded
  void synchronize() const;  ///< waits until the event is reached
  /// Returns milliseconds between two events. Both events must have been reached.
  double millisecondsSince(const Event& earlier) const;

  struct State;
  State& state() const { return *m_state; }

 private:
  std::unique_ptr<State> m_state;
};

struct Grid {
  int x = 1;
  int y = 1;
  int z = 1;
};

struct LaunchShape {
  Grid grid = {};  ///< without thread blocks nothing happens
  int threads = 0;
  std::size_t sharedBytes = 0;  ///< all shared memory that the kernel takes
};

/// A launch without the types of its kernel and arguments.
struct KernelCall {
  const char* name = "";
  LaunchShape shape;
  const void* kernel = nullptr;  ///< in the form of a launch of the CUDA runtime
  const void* arguments = nullptr;
  std::size_t argumentBytes = 0;
  /// Runs the kernel as a function of the host, for one thread.
  void (*call)(const void* kernel, const void* arguments) = nullptr;
};

/// A recorded list of work. The pointers and sizes in the list do not change.
class Graph {
 public:
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  struct State;
  State& state() const { return *m_state; }
  explicit Graph(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> m_state;
};

/// A list of work for the GPU, which runs in order.
class Stream {
 public:
  explicit Stream(const Device& device);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  void copyToDevice(void* target, const void* source, std::size_t bytes);
  void copyToHost(void* target, const void* source, std::size_t bytes);
  void copyOnDevice(void* target, const void* source, std::size_t bytes);
  void fill(void* target, std::uint8_t value, std::size_t bytes);
  void launch(const KernelCall& call);
  void record(Event& event);
  void wait(const Event& event);  ///< later work on this stream runs after the event
  void synchronize();             ///< waits until all work on this stream is done

  /// Records the work that `work` puts on this stream, without running it. `work` must not wait, and must not
  /// allocate or free memory.
  Graph capture(const std::function<void()>& work);
  void replay(const Graph& graph);

  struct State;
  State& state() const { return *m_state; }

 private:
  std::unique_ptr<State> m_state;
};

/// Puts a kernel on a stream. The arguments of the kernel are one plain struct, which is copied here.
template <class Arguments>
void launch(Stream& stream, const char* name, const LaunchShape& shape, void (*kernel)(Arguments),
            const Arguments& arguments) {
  static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= 4096);
  stream.launch({.name = name,
                 .shape = shape,
                 .kernel = reinterpret_cast<const void*>(kernel),
                 .arguments = &arguments,
                 .argumentBytes = sizeof(Arguments),
                 .call = [](const void* function, const void* given) {
                   // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): no cast leads from data to code.
                   reinterpret_cast<void (*)(Arguments)>(const_cast<void*>(function))(
                       *static_cast<const Arguments*>(given));
                 }});
}

/// out = x · weightᵀ (+ out). Everything is row-major. Strides are in elements.
struct MatrixProduct {
  int rows = 0;     ///< of x and out
  int columns = 0;  ///< of out; rows of the weight
  int depth = 0;    ///< columns of x and weight
  const Bf16* x = nullptr;
  std::int64_t xStride = 0;
  const Bf16* weight = nullptr;
  std::int64_t weightStride = 0;
  void* out = nullptr;
  std::int64_t outStride = 0;
  bool outIsFloat = false;  ///< f32, else bf16
  bool accumulate = false;

  bool operator==(const MatrixProduct&) const = default;
};

/// Bytes of GPU memory for the workspace of matrix products. On Hopper, cuBLAS needs this amount. Older GPUs
/// need less.
inline constexpr std::size_t kProductWorkspaceBytes = std::size_t{32} << 20U;

/// Matrix products on one stream, with sums in f32.
class MatrixProducts {
 public:
  explicit MatrixProducts(const Device& device);
  ~MatrixProducts();
  MatrixProducts(MatrixProducts&&) noexcept;
  MatrixProducts& operator=(MatrixProducts&&) noexcept;

  void run(Stream& stream, const MatrixProduct& product);

  struct State;

 private:
  std::unique_ptr<State> m_state;
};

}  // namespace spanscope::cuda
