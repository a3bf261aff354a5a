// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of backends of a program. Only the main functions know which backends exist. The main
// functions fill the registry and pass the registry to other code. Open this file to register a backend or to
// choose a device.
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

inline constexpr int kMostThreads = 1024;  ///< threads of the host, including the caller's

struct BackendOptions {
  int threads = 0;  ///< threads of the host, including the caller's: 0 … kMostThreads; 0: one per core
  int device = 0;   ///< index among the devices of the kind, in the order of `probe`.
  /// Whether rows must be bit-equal (DeviceInfo::rowsAreBitEqual), even if that takes longer. No effect on a
  /// device whose rows are always bit-equal.
  bool exact = false;
  /// The arithmetic of products on a processor. GPUs ignore this option.
  Arithmetic arithmetic = Arithmetic::F32;
};

/// A device of this machine.
struct Device {
  std::string name;               ///< the name in options and documents: "cpu", "cuda:0"
  std::string description;        ///< description of the device; empty if there is none
  std::uint64_t memoryBytes = 0;  ///< max memory for weights, keys and values; 0: unknown
  std::string reason;             ///< the reason why the device cannot be used; empty: the device is usable

  bool isUsable() const { return reason.empty(); }
};

/// The measured max rates of a device.
struct MachineRates {
  double flops = 0;      ///< f32 operations per second; a multiply-add counts as two
  double bf16Flops = 0;  ///< the same with pairs of bf16 elements; 0: no such arithmetic, or not reported
  double byteOperations = 0;  ///< the same with bytes; 0 as for bf16Flops
  double bytesPerSecond = 0;  ///< read from the memory that holds weights

  /// Returns one of the arithmetic rates. If the device lacks this arithmetic, the device uses f32. The
  /// function then returns the f32 rate.
  double arithmetic(double MachineRates::*rate) const { return this->*rate > 0 ? this->*rate : flops; }
};

/// Each call measures the rates once. A benchmark can therefore measure the rates between two of its runs.
using RateMeter = std::function<MachineRates()>;

/// The memory of a device for weights, stores and activations, known before anything is allocated. The
/// defaults follow from shapes and types, with activations in f32. All values are in bytes.
struct MemoryRules {
  /// Memory of a store, proportional to its number of blocks. The shape may have any numbers ≥ 0. Returns the
  /// largest value if the number of bytes overflows.
  std::function<std::uint64_t(const KvShape&)> ofStore = [](const KvShape& shape) {
    const auto size = static_cast<std::int64_t>(sizeOf(shape.type));
    if (!shape.byLayer.empty())
      return saturatedProduct({2, shape.slotElements(), shape.blocks, shape.blockSize, size});
    return saturatedProduct(
        {2, shape.layers, shape.blocks, shape.blockSize, shape.heads, shape.headSize, size});
  };
  /// Memory of N elements of matrices that have this format in the checkpoint.
  std::function<std::uint64_t(WeightFormat, std::int64_t)> ofMatrix =
      [](WeightFormat format, std::int64_t elements) { return std::uint64_t{bytesOf(format, elements)}; };
  std::int64_t ofActivation = 4;  ///< one element of an activation
  std::uint64_t ofPasses = 0;     ///< other memory: partial results, lists, workspaces
};

/// One kind of backend.
struct BackendKind {
  std::string name;  ///< the name of its DeviceKind: "cpu"
  /// Lists the devices of this kind on this machine; at least one entry. If there is no device, the entry has
  /// the reason. The call takes no memory of a device.
  std::function<std::vector<Device>()> probe;
  /// Throws Failure if the device is missing or lacks memory.
  std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
  /// Throws Failure if the memory for the measurement cannot be allocated.
  std::function<RateMeter(const BackendOptions&)> meter;
  std::function<MemoryRules()> memory = [] { return MemoryRules(); };
  /// The min number of rows per forward pass that keeps prompts fast. 0: no preference.
  std::int32_t rowsPerPass = 0;
  /// Returns the memory of a device that is available now. The call may use some of this memory. Throws
  /// Failure if the device cannot be used. Without this function, the memory is the value from `probe`.
  std::function<std::uint64_t(int device)> freeBytes = nullptr;
  /// The type of cached keys and values that makes attention fastest: F32 or BF16.
  DType keysAndValues = DType::F32;
};

/// Makes a kind that this program was built without. `reason`: why the kind is missing.
BackendKind absentKind(std::string name, std::string reason);

/// A kind in a registry. An entry has its kind from the start, or opens the kind at its first use. After
/// that, the kind does not change. Copies share one kind.
class KindEntry {
 public:
  KindEntry(BackendKind kind);  // NOLINT(google-explicit-constructor): a kind is the usual entry.
  /// `open` returns the kind with this name. If that is impossible, it returns an absent kind with the
  /// reason.
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

/// Returns the reason why the device `name` cannot be used. Empty: the device is usable. `devices` are all
/// devices. `name` is as for Backends::choose().
std::string reasonOf(const std::vector<Device>& devices, std::string_view name);

/// The name that means the first usable device.
inline constexpr std::string_view kAutoDevice = "auto";

/// The registry is a value. Copies have the same kinds.
class Backends {
 public:
  Backends() = default;
  /// The preferred kind comes first. Names must be different.
  explicit Backends(std::vector<KindEntry> kinds);

  const std::vector<KindEntry>& entries() const { return m_kinds; }
  /// Returns all kinds, and opens each of them.
  std::vector<BackendKind> kinds() const;
  /// Returns the devices of all kinds, including unusable ones.
  std::vector<Device> devices() const;
  /// Returns the device with this name. A kind's name means its first device, and "auto" the first usable
  /// device. memoryBytes is the free memory now. Throws Failure that lists the known names, or has the reason
  /// why the device cannot be used.
  ChosenDevice choose(std::string_view name = kAutoDevice) const;

 private:
  std::vector<KindEntry> m_kinds;
};

// The kinds of devices that documents and options may name, with the properties known before a device is
// opened. BackendKind::name is one of these names.

struct DeviceKind {
  const char* name = "";       ///< "cpu"; its devices are "cuda:0", "cuda:1", …
  const char* label = "";      ///< the name for the user
  bool isAlwaysThere = false;  ///< every machine has exactly one such device; the device name has no number.
  /// Rows are bit-equal (DeviceInfo::rowsAreBitEqual) without the option `exact`. False for kinds whose
  /// devices must be opened first.
  bool rowsAreBitEqual = false;
};

inline constexpr DeviceKind kProcessor{.name = "cpu",
                                       .label = forTranslation("spanscope::workbench", "processor"),
                                       .isAlwaysThere = true,
                                       .rowsAreBitEqual = true};
inline constexpr DeviceKind kNvidiaDevices{
    .name = "cuda", .label = forTranslation("spanscope::workbench", "NVIDIA GPU (CUDA)")};

/// In display order. The first kind exists on every machine.
inline constexpr std::array kDeviceKinds{&kProcessor, &kNvidiaDevices};
static_assert(kDeviceKinds.front()->isAlwaysThere);

/// Returns the kind of "cpu", "cuda" or "cuda:1", or nullptr for an unknown name. The function does not look
/// for devices of this machine.
const DeviceKind* deviceKindOf(std::string_view device);

}  // namespace spanscope::compute
