// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of backends of a program. Only the mains know which backends there are: they fill the registry
// and pass it on.
#pragma once

#include "engine/base/saturated.h"
#include "engine/base/translation.h"
#include "engine/compute/backend.h"
#include "engine/compute/dtype.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::compute {

inline constexpr int kMostThreads = 1024;  ///< of the host, including the caller's

struct BackendOptions {
  int threads = 0;  ///< of the host, including the caller's: 0 … kMostThreads; 0: one per core
  int device = 0;   ///< index among the devices of the kind, in the order of `probe`
  /// Whether rows must be bit-equal (DeviceInfo::rowsAreBitEqual), even if that takes longer. It changes
  /// nothing for a device whose rows always are.
  bool exact = false;
  /// Of products on a processor; cards take no notice.
  Arithmetic arithmetic = Arithmetic::F32;
};

/// A device that was found on this machine.
struct Device {
  std::string name;               ///< the name in options and documents: "cpu", "cuda:0"
  std::string description;        ///< what the device is; empty if there is none
  std::uint64_t memoryBytes = 0;  ///< most memory for weights, keys and values; 0: unknown
  std::string obstacle;           ///< why the device cannot be used; empty: it can

  bool isUsable() const { return obstacle.empty(); }
};

/// The highest rates of a device, as measured.
struct MachineRates {
  double flops = 0;           ///< f32 operations per second; a multiply-add counts as two
  double bf16Flops = 0;       ///< the same by pairs of bf16 elements; 0: the device has none, or says nothing
  double byteOperations = 0;  ///< the same by bytes
  double bytesPerSecond = 0;  ///< read from the memory that holds weights

  /// One of the rates of arithmetic; where the device lacks it, that of f32, in which it multiplies then.
  double arithmetic(double MachineRates::*rate) const { return this->*rate > 0 ? this->*rate : flops; }
};

/// Each call measures the rates once. So measurements can alternate with the runs that they are compared to.
using RateMeter = std::function<MachineRates()>;

/// How much memory a device takes for what it shall hold; known before anything is allocated. The defaults
/// follow from shapes and types, with activations in f32. All in bytes.
struct MemoryRules {
  /// Memory of a store; proportional to its number of blocks. The shape may have any numbers that are not
  /// negative. The largest value if the bytes cannot be counted.
  std::function<std::uint64_t(const KvShape&)> ofStore = [](const KvShape& shape) {
    return saturatedProduct({2, shape.layers, shape.blocks, shape.blockSize, shape.heads, shape.headSize,
                             static_cast<std::int64_t>(sizeOf(shape.type))});
  };
  /// Memory of so many elements of matrices that have this format in the checkpoint.
  std::function<std::uint64_t(WeightFormat, std::int64_t)> ofMatrix =
      [](WeightFormat format, std::int64_t elements) { return std::uint64_t{bytesOf(format, elements)}; };
  std::int64_t ofActivation = 4;  ///< one element of an activation
  std::uint64_t ofPasses = 0;     ///< needed besides activations: partial results, lists, workspaces
};

/// One kind of backend.
struct BackendKind {
  std::string name;  ///< that of its DeviceKind (engine/compute/backends.h): "cpu"
  /// The devices of this kind on this machine; at least one entry. If there is no device, the entry says why.
  /// The call takes no memory of a device.
  std::function<std::vector<Device>()> probe;
  /// Throws Failure if the device is missing or lacks memory.
  std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
  /// Throws Failure if the memory for the measurement cannot be allocated.
  std::function<RateMeter(const BackendOptions&)> meter;
  std::function<MemoryRules()> memory = [] { return MemoryRules(); };
  /// The least number of rows that a pass should be allowed, so that prompts are computed fast; 0: no
  /// preference.
  std::int32_t rowsPerPass = 0;
  /// How much memory of a device is available now. Finding out may take some of it. Throws Failure if the
  /// device cannot be used after all. If there is no function: as much as `probe` says.
  std::function<std::uint64_t(int device)> freeBytes = nullptr;
  /// The type of cached keys and values with which the devices attend best: F32 or BF16.
  DType keysAndValues = DType::F32;
};

/// Stands for a kind that is not part of this program; `obstacle` says so.
BackendKind absentKind(std::string name, std::string obstacle);

/// A kind in a registry. Either it is known from the start, or it is opened when it is first asked for, and
/// then stays the same. Copies share one kind.
class KindEntry {
 public:
  KindEntry(BackendKind kind);  // NOLINT(google-explicit-constructor): a kind is the usual entry.
  /// `open` returns the kind of this name. If that is impossible, it returns an absent kind that says why.
  KindEntry(std::string name, std::function<BackendKind()> open);

  const std::string& name() const;
  /// The first caller opens the kind, on any thread.
  const BackendKind& kind() const;

 private:
  struct State {
    std::string name;
    std::function<BackendKind()> open;
    std::once_flag once;
    BackendKind kind;
  };
  std::shared_ptr<State> m_state;
};

/// A device that can be used.
struct ChosenDevice {
  BackendKind kind;
  Device device;
  int index = 0;  ///< among the devices of the kind
};

/// Why the device called `name` cannot be used; empty if it can. `devices` are all devices. `name`: as for
/// Backends::choose().
std::string obstacleOf(const std::vector<Device>& devices, std::string_view name);

/// The name that means the first usable device.
inline constexpr std::string_view kAutoDevice = "auto";

/// The registry. It is a value; copies hold the same kinds.
class Backends {
 public:
  Backends() = default;
  /// The most preferred kind first. Names must be different.
  explicit Backends(std::vector<KindEntry> kinds);

  const std::vector<KindEntry>& entries() const { return m_kinds; }
  /// All kinds; opens each of them.
  std::vector<BackendKind> kinds() const;
  /// The devices of all kinds, including those that cannot be used.
  std::vector<Device> devices() const;
  /// The device of this name; a kind's name means its first device, and "auto" the first usable device.
  /// memoryBytes is the memory that is free now. Throws Failure that lists the known names, or says why that
  /// device cannot be used.
  ChosenDevice choose(std::string_view name = kAutoDevice) const;

 private:
  std::vector<KindEntry> m_kinds;
};

// The kinds of devices that documents and options may name, and what is known of each before it is opened.
// The registry's row of a kind (engine/compute/backends.h) takes its name from here.

struct DeviceKind {
  const char* name = "";       ///< "cpu"; its devices are "cuda:0", "cuda:1", …
  const char* label = "";      ///< what people call it
  bool isAlwaysThere = false;  ///< every machine has one, and no second: its name takes no number
  /// Rows are bit-equal (DeviceInfo::rowsAreBitEqual) without being asked for; of other kinds nobody knows
  /// before a device is opened.
  bool rowsAreBitEqual = false;
};

inline constexpr DeviceKind kProcessor{.name = "cpu",
                                       .label = forTranslation("spanscope::workbench", "processor"),
                                       .isAlwaysThere = true,
                                       .rowsAreBitEqual = true};
inline constexpr DeviceKind kNvidiaCards{
    .name = "cuda", .label = forTranslation("spanscope::workbench", "NVIDIA GPU (CUDA)")};

/// In the order in which people are offered them; the first is always there.
inline constexpr std::array kDeviceKinds{&kProcessor, &kNvidiaCards};
static_assert(kDeviceKinds.front()->isAlwaysThere);

/// The kind of "cpu", "cuda" or "cuda:1"; nullptr: there is none of this name. It says nothing about which
/// devices this machine has.
const DeviceKind* deviceKindOf(std::string_view device);

}  // namespace spanscope::compute
