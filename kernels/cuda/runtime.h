// SPDX-License-Identifier: GPL-3.0-or-later
// All that host code of the backend knows of a card, and the only header of it that it includes. It has two
// implementations: runtime_cuda.cpp, and tests/support/cuda_emulation for the host.
//
// Work given to a stream runs in order, later: what it reads and writes must live, and host memory must stay
// as it is, until the stream was waited for. Every error is a Failure that names the call and the sizes; one
// that a kernel made may be thrown by a later call. Handles are used by one thread at a time.
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

/// What one card is.
struct DeviceProperties {
  std::string name;
  int major = 0;  ///< of its compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::size_t memoryBytes = 0;
  std::size_t sharedBytesPerBlock = 0;  ///< at most, for a kernel that asks for it
  int driverVersion = 0;                ///< 1000 · major + 10 · minor, the newest CUDA the driver knows
  int runtimeVersion = 0;               ///< the same, of the toolkit this was built with
  std::string productsVersion = {};     ///< of the library that MatrixProducts calls, "cuBLAS 13.0.0"
  std::string driverRelease = {};       ///< the driver's own version, "580.65.06"; empty: not known
  /// The driver was told to compile kernels for the card whatever code of its own they bring.
  bool isToldToCompile = false;
};

/// How many cards there are. Throws Failure where there is no driver, or one too old.
int deviceCount();

/// A card. Copies are the same card. To open it and to ask what it is takes nothing of it; whatever else is
/// asked makes a context there, which has some hundred megabytes.
class Device {
 public:
  /// Throws Failure if there is no such card.
  static Device open(int index);

  const DeviceProperties& properties() const;
  std::size_t freeBytes() const;  ///< beside the context, which is made for it

  struct State;
  State& state() const { return *m_state; }

 private:
  explicit Device(std::shared_ptr<State> state) : m_state(std::move(state)) {}
  std::shared_ptr<State> m_state;
};

/// Memory of a card, at a multiple of 256 bytes; its contents are undefined. Waits for the card when it is
/// given back.
class DeviceMemory {
 public:
  DeviceMemory();  ///< of no bytes
  /// Throws Failure if it cannot be had; `what` it is for is said in the message.
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

/// Memory of the host that the card copies from and to without a detour.
class PinnedMemory {
 public:
  PinnedMemory();  ///< of no bytes
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

/// A point in a stream's work.
class Event {
 public:
  explicit Event(const Device& device);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  bool reached() const;      ///< true if it was never recorded
  void synchronize() const;  ///< waits until it is reached
  /// Between two events that were both reached.
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
  Grid grid = {};  ///< no block at all: nothing happens
  int threads = 0;
  std::size_t sharedBytes = 0;  ///< all of it, as the kernel takes it
};

/// A launch whose types are gone.
struct KernelCall {
  const char* name = "";
  LaunchShape shape;
  const void* kernel = nullptr;  ///< what a launch of the CUDA runtime takes
  const void* arguments = nullptr;
  std::size_t argumentBytes = 0;
  /// Runs the kernel as a function of the host, for one thread.
  void (*call)(const void* kernel, const void* arguments) = nullptr;
};

/// A recorded list of work. Pointers and sizes in it stay what they were.
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

/// Work in order.
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
  void wait(const Event& event);  ///< what follows here runs after the event was reached
  void synchronize();             ///< waits until all that was given to this stream is done

  /// Records what `work` gives to this stream instead of running it. `work` may not wait, nor have or give
  /// back memory.
  Graph capture(const std::function<void()>& work);
  void replay(const Graph& graph);

  struct State;
  State& state() const { return *m_state; }

 private:
  std::unique_ptr<State> m_state;
};

/// Gives a kernel to a stream. Its arguments are one plain struct, copied here.
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

/// out = x · weightᵀ (+ out). All row-major, with the distance of rows in elements.
struct MatrixProduct {
  int rows = 0;     ///< of x and out
  int columns = 0;  ///< of out, rows of the weight
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

/// Memory of the card that matrix products work in: cuBLAS asks for this much on Hopper, and for less before.
inline constexpr std::size_t kProductWorkspaceBytes = std::size_t{32} << 20U;

/// Matrix products of one stream, summed in f32.
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
