// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a test of an operation on every device that is present: on the CPU with each of its instruction sets,
// on other devices once as usual and once exact.
#pragma once

#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/support/backends.h"

#include <QTest>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::testing {

constexpr std::string_view kCpu = "cpu";
constexpr std::int64_t kExactTarget = -1;  ///< replaces an instruction set: rows are bit-equal

inline void addDeviceColumns() {
  QTest::addColumn<QString>("device");
  QTest::addColumn<qlonglong>("target");
}

/// A device, or the CPU with one instruction set.
struct DeviceVariant {
  std::string device;
  std::int64_t target = 0;  ///< 0: the device's own choice
  std::string name;
};

inline std::vector<DeviceVariant> deviceVariants() {
  std::vector<DeviceVariant> variants;
  for (const std::string& device : test::presentDevices()) {
    if (device != kCpu) {
      variants.push_back({device, 0, device});
      variants.push_back({device, kExactTarget, device + ", exact"});
      continue;
    }
    for (const std::int64_t target : availableInstructionSets())
      variants.push_back({device, target, device + ", " + hwy::TargetName(target)});
  }
  return variants;
}

/// Adds the data of a test that runs once on each variant.
inline void addDevices() {
  addDeviceColumns();
  for (const DeviceVariant& variant : deviceVariants()) {
    QTest::newRow(variant.name.c_str())
        << QString::fromStdString(variant.device) << static_cast<qlonglong>(variant.target);
  }
}

/// The device of the current row of test data, read from the columns above. Backends that this object makes
/// use that device's variant as long as it lives.
class DeviceInUse {
 public:
  DeviceInUse() {
    QFETCH(QString, device);
    QFETCH(qlonglong, target);
    m_device = device.toStdString();
    m_isExact = target == kExactTarget;
    if (target > 0) m_set.emplace(target);
  }

  std::unique_ptr<compute::Backend> make(int threads = 2) const {
    return test::makeBackend(m_device, threads, m_isExact);
  }

  /// How many of `most` random problems to run so that they take only some seconds. A device other than the
  /// CPU may be an emulated card.
  int rounds(int most) const { return m_device == kCpu ? most : (most + 5) / 6; }

 private:
  std::string m_device;
  bool m_isExact = false;
  std::optional<UseInstructionSet> m_set;
};

/// The unit round-off of the values in tensors of this backend.
inline double activationUnit(const compute::Backend& backend) {
  switch (backend.info().activations) {
    case compute::DType::F32:
      return 0x1p-24;
    case compute::DType::F16:
      return 0x1p-11;
    case compute::DType::BF16:
      return 0x1p-8;
  }
  return 0;
}

/// The values as a tensor of the backend holds them.
inline std::vector<float> heldBy(const compute::Backend& backend, std::vector<float> values) {
  if (backend.info().activations != compute::DType::BF16) return values;
  for (float& value : values) value = compute::floatFromBf16(compute::bf16FromFloat(value));
  return values;
}

/// Whether the device has kernels for heads of this size.
inline bool takesHeads(compute::Backend& backend, std::int32_t headSize) {
  try {
    backend.makeKvStore({1, 1, 1, 1, headSize, compute::DType::F32});
    return true;
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace spanscope::testing
