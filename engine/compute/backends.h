// SPDX-License-Identifier: GPL-3.0-or-later
// The backends of a program. What computes is known to the mains alone: they fill the registry and hand it
// on.
#pragma once

#include "engine/base/saturated.h"
#include "engine/compute/backend.h"
#include "engine/compute/thread_limit.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::compute {

struct BackendOptions {
  int threads = 0;  ///< of the host, the caller's included: 0 … kMostThreads; 0: one a core
  int device = 0;   ///< which of the kind's devices, as `probe` counts them
  /// Rows are to be bit-equal (DeviceInfo::rowsAreBitEqual), also where that takes longer. A device whose
  /// rows always are does as ever.
  bool exact = false;
};

/// A device as it was found on this machine.
struct Device {
  std::string name;               ///< what options and documents call it: "cpu", "cuda:0"
  std::string description;        ///< what it is; empty where there is none
  std::uint64_t memoryBytes = 0;  ///< that weights, keys and values can take at most; 0: not known
  std::string obstacle;           ///< why it cannot be used; empty: it can

  bool isUsable() const { return obstacle.empty(); }
};

/// What a device can do at best, measured.
struct MachineRates {
  double flops = 0;           ///< f32 operations a second; a multiply-add is two
  double bytesPerSecond = 0;  ///< read from the memory that weights lie in
};

/// Takes a sample of the rates each time it is called, so that they can be taken in turn with what they are
/// compared to.
using RateMeter = std::function<MachineRates()>;

/// What is taken of a device's memory for what it is asked to hold, known before anything is made. As given
/// here: what shapes and types say, with activations in f32. Bytes.
struct MemoryRules {
  /// Of a store: in proportion to its blocks. Of any numbers that are not negative; the largest value where
  /// there are more bytes than can be counted.
  std::function<std::uint64_t(const KvShape&)> ofStore = [](const KvShape& shape) {
    return saturatedProduct({2, shape.layers, shape.blocks, shape.blockSize, shape.heads, shape.headSize,
                             static_cast<std::int64_t>(sizeOf(shape.type))});
  };
  /// Of an element of a matrix that a checkpoint has in this type: f16 is widened.
  std::function<std::int64_t(DType)> ofMatrixElement = [](DType type) {
    return type == DType::BF16 ? std::int64_t{2} : std::int64_t{4};
  };
  std::int64_t ofActivation = 4;  ///< an element
  std::uint64_t ofPasses = 0;     ///< beside activations: partial results, lists, workspaces
};

/// One kind of backend.
struct BackendKind {
  std::string name;  ///< "cpu"
  /// What there is of it on this machine, at least one entry: where there is no device, one that says why.
  /// Takes nothing of a device.
  std::function<std::vector<Device>()> probe;
  /// Throws Failure where the device is missing or lacks memory.
  std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
  /// Throws Failure where memory for the measurement cannot be had.
  std::function<RateMeter(const BackendOptions&)> meter;
  std::function<MemoryRules()> memory = [] { return MemoryRules(); };
  /// Rows that a pass should be let have, so that prompts are computed fast; 0: any number is.
  std::int32_t rowsPerPass = 0;
  /// Of the memory of one of its devices what can be had now. May take some of it to find out. Throws Failure
  /// where the device cannot be used after all. Without: as much as `probe` says.
  std::function<std::uint64_t(int device)> freeBytes = nullptr;
  /// The type of cached keys and values that its devices attend to best: F32 or BF16.
  DType keysAndValues = DType::F32;
};

/// A kind that this program was not built with; `obstacle` says so.
BackendKind absentKind(std::string name, std::string obstacle);

/// A kind as a registry has it: known from the start, or opened when it is first asked for, and the same from
/// then on. Copies are the same one.
class KindEntry {
 public:
  KindEntry(BackendKind kind);  // NOLINT(google-explicit-constructor): a kind is the usual entry.
  /// `open` gives the kind of this name, and says by an absent one what is in the way.
  KindEntry(std::string name, std::function<BackendKind()> open);

  const std::string& name() const;
  /// Opened by whoever asks first, on any thread.
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

/// Why the device that `name` means cannot be used, where `devices` are all there are; empty: it can.
/// `name`: as Backends::choose() knows them.
std::string obstacleOf(const std::vector<Device>& devices, std::string_view name);

/// What stands for the first device that can be used.
inline constexpr std::string_view kAutoDevice = "auto";

/// The registry: a value, copies hold the same kinds.
class Backends {
 public:
  Backends() = default;
  /// In the order in which they are preferred. No name twice.
  explicit Backends(std::vector<KindEntry> kinds);

  const std::vector<KindEntry>& entries() const { return m_kinds; }
  /// Opens them all.
  std::vector<BackendKind> kinds() const;
  /// Of all kinds, those that cannot be used included.
  std::vector<Device> devices() const;
  /// The device of this name, the first of a kind, or for "auto" the first that can be used, with the memory
  /// of it that is free. Throws Failure that lists the names there are, or says why that device cannot be
  /// used.
  ChosenDevice choose(std::string_view name = kAutoDevice) const;

 private:
  std::vector<KindEntry> m_kinds;
};

}  // namespace spanscope::compute
