// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/cuda_backend.h"

#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "kernels/cuda/backend/device_buffers.h"
#include "kernels/cuda/backend/device_key_value_store.h"
#include "kernels/cuda/backend/device_limits.h"
#include "kernels/cuda/backend/device_pass.h"
#include "kernels/cuda/backend/device_tensor.h"
#include "kernels/cuda/backend/fixed_place.h"
#include "kernels/cuda/backend/rotation_tables.h"
#include "kernels/cuda/pool/pool_kernels.h"
#include "kernels/cuda/product/exact_product.h"
#include "kernels/cuda/product/few_row_product.h"
#include "kernels/cuda/rows/row_kernels.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cuda {
namespace {

using compute::WeightUse;

// Changes whenever the same input gives other bits.
constexpr const char* kNumericRevision = "cuda-2";
constexpr int kLeastMajor = 8;
/// For 512 rows, the product of a layer's 4096 columns has 64 tiles of 128 × 256. A large GPU has twice as
/// many multiprocessors. For this number of rows, the product has 256 tiles.
constexpr std::int32_t kRowsPerPass = 2048;

std::string capabilityOf(const DeviceProperties& device) {
  return std::to_string(device.major) + "." + std::to_string(device.minor);
}

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The compute capabilities for which the kernels have code, multiplied by ten.
constexpr int kOwnCode[] = {SPANSCOPE_CUDA_ARCHITECTURES};

/// Whether the driver compiles the GPU's code when the kernels are loaded. Compiled code runs on GPUs of the
/// same major version that are not older.
bool isCompiledAtLoad(const DeviceProperties& device) {
  const auto runs = [&](int code) { return code / 10 == device.major && code % 10 <= device.minor; };
  return device.isToldToCompile || std::none_of(std::begin(kOwnCode), std::end(kOwnCode), runs);
}

/// Returns the origin of the code that the GPU runs.
std::string compilersOf(const DeviceProperties& device) {
  std::string text = "CUDA " + versionText(device.runtimeVersion);
  if (!isCompiledAtLoad(device)) return text;
  text += "/sm_" + std::to_string(device.major * 10 + device.minor) + " by driver";
  if (!device.driverRelease.empty()) text += " " + device.driverRelease;
  return text + " for CUDA " + versionText(device.driverVersion);
}

/// A product, and the library or kernel that computes it.
struct ProductWork {
  MatrixProducts* products = nullptr;
  MatrixProduct product;
  bool operator==(const ProductWork&) const = default;
};
void multiply(Stream& stream, const ProductWork& work) {
  work.products->run(stream, work.product);
}

/// Returns the padded number of rows for kernels.
int allRows(RowCount rows) {
  return static_cast<int>(rows.padded);
}

class CudaBackend final : public compute::Backend {
 public:
  explicit CudaBackend(const CudaOptions& options)
      : m_device(Device::open(options.device)),
        m_isExact(options.exact),
        m_work(std::make_shared<DeviceWork>(m_device, options.work)),
        m_products(m_device),
        m_buffers(std::make_shared<DeviceBuffers>(m_device)),
        m_place(std::make_shared<FixedPlace>(m_device)),
        m_rotations(std::make_shared<RotationTables>(m_device, m_work)) {
    const DeviceProperties& properties = m_device.properties();
    if (properties.major < kLeastMajor)
      throw Failure(errorAt(properties.name, "compute capability " + capabilityOf(properties),
                            "at least " + std::to_string(kLeastMajor) + ".0"));
    if (m_isExact && properties.sharedBytesPerBlock < kExactSharedBytes)
      throw Failure(
          errorAt(properties.name,
                  std::to_string(properties.sharedBytesPerBlock) + " bytes of shared memory per block",
                  "at least " + std::to_string(kExactSharedBytes) + " for bit-equal rows"));
  }

  compute::DeviceInfo info() const override {
    const DeviceProperties& properties = m_device.properties();
    compute::DeviceInfo info;
    info.name = properties.name + (m_isExact ? ", exact" : "");
    info.instructionSet = "sm_" + std::to_string(properties.major * 10 + properties.minor);
    info.numericRevision = std::string(kNumericRevision) + (m_isExact ? "/exact/" : "/default/") +
                           properties.name + "/" + compilersOf(properties);
    if (!m_isExact) info.numericRevision += "/" + properties.productsVersion;
    info.rowsAreBitEqual = m_isExact;
    info.activations = compute::DType::BF16;
    return info;
  }

  void begin(std::stop_token stop) override { m_work->begin(std::move(stop)); }
  bool stopped() override { return m_work->stopped(); }

  std::unique_ptr<compute::Tensor> makeTensor() override {
    return std::make_unique<DeviceTensor>(m_device, m_work);
  }

  std::unique_ptr<compute::Weight> prepare(const compute::HostMatrix& matrix, WeightUse use) override {
    return std::make_unique<DeviceWeight>(m_device, m_work, *m_buffers, matrix, use);
  }

  std::unique_ptr<compute::KvStore> makeKvStore(const compute::KvShape& shape) override {
    return std::make_unique<DeviceKeyValueStore>(m_device, m_work, shape);
  }

  std::unique_ptr<compute::Pass> makePass(const compute::AttentionShape& shape,
                                          const compute::RotaryTable& rotary, const compute::KvShape& store,
                                          const compute::PassInputs& inputs) override {
    return std::make_unique<DevicePass>(PassSupplies{.work = m_work,
                                                     .buffers = m_buffers,
                                                     .place = m_place,
                                                     .rotations = m_rotations,
                                                     .multiprocessors = m_device.properties().multiprocessors,
                                                     .sharedBytes = m_device.properties().sharedBytesPerBlock,
                                                     .exact = m_isExact},
                                        shape, rotary, store, inputs);
  }

  void embed(const compute::Pass& pass, const compute::Weight& table, compute::Tensor& out) override {
    const DevicePass& own = devicePass(pass);
    const DeviceWeight& weight = deviceWeight(table);
    DeviceTensor& target = deviceTensor(out);
    target.resizeAs(own.rows(), weight.columns(), false);
    if (m_work->wasStopped()) return;
    m_work->give(cuda::embed, {.table = weight.elements(),
                               .ids = own.tokens(),
                               .out = target.elements(),
                               .rows = allRows(own.rows()),
                               .columns = static_cast<int>(weight.columns())});
  }

  void rmsNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
               compute::Tensor& out) override {
    norm(x, weight, epsilon, false, out);
  }
  void layerNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
                 compute::Tensor& out) override {
    norm(x, weight, epsilon, true, out);
  }

  void norm(const compute::Tensor& x, const compute::Weight& weight, float epsilon, bool centers,
            compute::Tensor& out) {
    const DeviceTensor& source = deviceTensor(x);
    DeviceTensor& target = deviceTensor(out);
    const std::int64_t columns = compute::normColumns(source.columns(), weight);
    target.resizeAs(source.rowCount(), source.columns(), false);
    if (m_work->wasStopped()) return;
    // Stretches of a row are consecutive, like rows.
    const auto stretches = static_cast<int>(source.columns() / columns);
    m_work->give(cuda::rmsNorm, {.x = source.elements(),
                                 .added = nullptr,
                                 .weight = deviceWeight(weight).floats(),
                                 .out = target.elements(),
                                 .rows = allRows(source.rowCount()) * stretches,
                                 .columns = static_cast<int>(columns),
                                 .epsilon = epsilon,
                                 .centers = centers});
  }

  void matmul(const compute::Tensor& x, const compute::Weight& weight, const compute::Weight* bias,
              bool accumulate, compute::Tensor& out) override {
    const DeviceTensor& source = deviceTensor(x);
    const DeviceWeight& matrix = deviceWeight(weight);
    DeviceTensor& target = deviceTensor(out);
    const bool isFloat = matrix.use() == WeightUse::Logits;
    if (!accumulate) target.resizeAs(source.rowCount(), matrix.rows(), isFloat);
    if (m_work->wasStopped() || source.rows() == 0) return;
    const int rows = std::min(allRows(source.rowCount()), allRows(target.rowCount()));
    const auto columns = static_cast<int>(matrix.rows());
    const FewRowProduct few{.rows = rows,
                            .depth = static_cast<int>(matrix.columns()),
                            .x = source.elements(),
                            .xStride = source.columns(),
                            .count = 1,
                            .weights = {{.elements = matrix.elements(),
                                         .stride = matrix.columns(),
                                         .columns = columns,
                                         .bias = bias == nullptr ? nullptr : deviceWeight(*bias).floats(),
                                         .out = target.data(),
                                         .outStride = target.columns(),
                                         .outIsFloat = target.isFloat(),
                                         .accumulate = accumulate}}};
    if (!m_isExact && takesFewRows(few)) return m_work->giveProduct(few);
    if (bias != nullptr) {
      m_work->give(biasRows, {.bias = deviceWeight(*bias).floats(),
                              .out = target.data(),
                              .outIsFloat = target.isFloat(),
                              .accumulate = accumulate,
                              .rows = rows,
                              .columns = columns});
    }
    const MatrixProduct product{.rows = rows,
                                .columns = columns,
                                .depth = static_cast<int>(matrix.columns()),
                                .x = source.elements(),
                                .xStride = source.columns(),
                                .weight = matrix.elements(),
                                .weightStride = matrix.columns(),
                                .out = target.data(),
                                .outStride = target.columns(),
                                .outIsFloat = target.isFloat(),
                                .accumulate = accumulate || bias != nullptr};
    if (m_isExact) {
      m_work->give(multiplyExactly, product);
    } else {
      m_work->give(multiply, {&m_products, product});
    }
  }

  void multiplyGated(compute::Activation activation, const compute::Tensor& gate, const compute::Tensor& up,
                     compute::Tensor& out) override {
    if (activation == compute::Activation::ClampedSwiglu)
      throw Failure(errorAt(info().name, "a clamped activation", "an activation that the device computes"));
    const DeviceTensor& gates = deviceTensor(gate);
    DeviceTensor& target = deviceTensor(out);
    target.resizeAs(gates.rowCount(), gates.columns(), false);
    if (m_work->wasStopped()) return;
    const auto columns = static_cast<int>(gates.columns());
    m_work->give(gatedActivation,
                 {.gate = gates.elements(),
                  .up = deviceTensor(up).elements(),
                  .out = target.elements(),
                  .rows = std::min(allRows(gates.rowCount()), allRows(deviceTensor(up).rowCount())),
                  .columns = columns,
                  .stride = columns,
                  .isGelu = activation == compute::Activation::GeluTanh});
  }

  void scale(compute::Tensor& x, float factor) override {
    const DeviceTensor& target = deviceTensor(x);
    if (m_work->wasStopped() || target.rows() == 0) return;
    m_work->give(scaledSum, {.x = nullptr,
                             .out = target.data(),
                             .outIsFloat = target.isFloat(),
                             .outFactor = factor,
                             .factor = 0,
                             .count = allRows(target.rowCount()) * target.columns()});
  }

  void softCap(compute::Tensor& x, float cap) override {
    const DeviceTensor& target = deviceTensor(x);
    if (m_work->wasStopped() || target.rows() == 0) return;
    m_work->give(cuda::softCap, {.x = target.data(),
                                 .isFloat = target.isFloat(),
                                 .cap = cap,
                                 .count = allRows(target.rowCount()) * target.columns()});
  }

  void takeColumns(const compute::Tensor& x, std::int64_t first, std::int64_t count,
                   compute::Tensor& out) override {
    const DeviceTensor& source = deviceTensor(x);
    DeviceTensor& target = deviceTensor(out);
    compute::checkColumns(source.columns(), first, count);
    target.resizeAs(source.rowCount(), count, false);
    if (m_work->wasStopped() || source.rows() == 0) return;
    m_work->give(cuda::takeColumns, {.x = source.elements(),
                                     .out = target.elements(),
                                     .rows = allRows(source.rowCount()),
                                     .stride = static_cast<int>(source.columns()),
                                     .first = static_cast<int>(first),
                                     .columns = static_cast<int>(count)});
  }

  void addScaled(const compute::Tensor& x, float factor, compute::Tensor& out) override {
    const DeviceTensor& source = deviceTensor(x);
    const DeviceTensor& target = deviceTensor(out);
    if (m_work->wasStopped() || target.rows() == 0) return;
    const int rows = std::min(allRows(source.rowCount()), allRows(target.rowCount()));
    m_work->give(scaledSum, {.x = source.elements(),
                             .out = target.data(),
                             .outIsFloat = target.isFloat(),
                             .outFactor = 1,
                             .factor = factor,
                             .count = rows * target.columns()});
  }

  void gatherRows(const compute::Pass& pass, compute::RowList list, const compute::Tensor& x,
                  compute::Tensor& out) override {
    const DevicePass& own = devicePass(pass);
    const DeviceTensor& source = deviceTensor(x);
    DeviceTensor& target = deviceTensor(out);
    target.resizeAs(own.count(list), source.columns(), false);
    if (m_work->wasStopped()) return;
    m_work->give(cuda::gatherRows, {.x = source.elements(),
                                    .rows = own.list(list),
                                    .out = target.elements(),
                                    .count = allRows(own.count(list)),
                                    .columns = static_cast<int>(source.columns())});
  }

  void storeKeysValues(const compute::Pass& pass, const compute::Tensor& keys, const compute::Tensor& values,
                       std::int32_t layer, compute::KvStore& store) override {
    if (m_work->wasStopped()) return;
    const DevicePass& own = devicePass(pass);
    m_work->give(writeKeysValues, {.keys = deviceTensor(keys).elements(),
                                   .values = deviceTensor(values).elements(),
                                   .stride = deviceTensor(keys).columns(),
                                   .cosSin = own.keyRotations(),
                                   .localIndices = own.keyIndices(),
                                   .slots = own.slots(),
                                   .pool = deviceStore(store).pool(),
                                   .layer = layer,
                                   .rows = allRows(own.rows())});
  }

  void copyBlocks(std::span<const compute::BlockCopy> copies, compute::KvStore& store) override {
    // The copies of one launch have no order. An entry that overlaps an earlier source or target begins
    // another launch.
    std::vector<BlockCopy> together;
    std::set<BlockId> touched;
    for (const compute::BlockCopy& copy : copies) {
      if (touched.contains(copy.source) || touched.contains(copy.target)) {
        copyTogether(together, deviceStore(store).pool());
        together.clear();
        touched.clear();
      }
      touched.insert({copy.source, copy.target});
      if (copy.source != copy.target && copy.slots > 0)
        together.push_back({.source = copy.source, .target = copy.target, .slots = copy.slots});
    }
    copyTogether(together, deviceStore(store).pool());
  }

  void readBlocks(std::span<const compute::BlockToHost> blocks, const compute::KvStore& store) override {
    deviceStore(store).readBlocks(blocks);
  }

  void writeBlocks(std::span<const compute::BlockFromHost> blocks, compute::KvStore& store) override {
    static_cast<DeviceKeyValueStore&>(store).writeBlocks(blocks);
  }

  void attend(compute::Pass& pass, const compute::Tensor& queries, const compute::KvStore& store,
              std::int32_t layer, bool observed, compute::Tensor& out,
              const compute::Weight* sinks) override {
    if (sinks != nullptr)
      throw Failure(errorAt(info().name, "attention sinks", "a device that takes attention sinks"));
    const DeviceTensor& source = deviceTensor(queries);
    DeviceTensor& target = deviceTensor(out);
    target.resizeAs(devicePass(pass).rows(), source.columns(), false);
    if (m_work->wasStopped()) return;
    if (devicePass(pass).choosesBlocks()) deviceStore(store).keepBounds();
    devicePass(pass).attend(deviceStore(store).pool(), layer, source.elements(), observed, target.elements());
  }

  void deviations(const compute::Pass& pass, compute::StoredPart part, const compute::Tensor& x,
                  std::int32_t layer, const compute::KvStore& store, compute::Tensor& out) override {
    const DevicePass& own = devicePass(pass);
    DeviceTensor& target = deviceTensor(out);
    target.resizeAs(own.rows(), 1, true);
    if (m_work->wasStopped()) return;
    m_work->give(measureDeviations,
                 {.rowsOf = deviceTensor(x).elements(),
                  .stride = deviceTensor(x).columns(),
                  .cosSin = part == compute::StoredPart::Keys ? own.keyRotations() : nullptr,
                  .localIndices = own.keyIndices(),
                  .slots = own.slots(),
                  .pool = deviceStore(store).pool(),
                  .layer = layer,
                  .rows = allRows(own.rows()),
                  .out = target.floats()});
  }

  void narrow(compute::Pass& pass, const compute::Tensor& scores) override {
    // When the forward pass is stopped, the scores are not computed, and nothing is chosen.
    if (m_work->wasStopped()) return;
    const DeviceTensor& source = deviceTensor(scores);
    devicePass(pass).narrow(source.data(), source.rows() * source.columns(), source.isFloat());
  }

  void sample(compute::Pass& pass, const compute::Tensor& logits) override {
    const DeviceTensor& source = deviceTensor(logits);
    if (source.columns() > static_cast<std::int64_t>(compute::kMostLogits))
      throw Failure(errorAt("sampling", std::to_string(source.columns()) + " logits",
                            "at most " + std::to_string(compute::kMostLogits)));
    if (!source.isFloat())
      throw Failure(errorAt("sampling", "logits in bf16", "logits in f32, from a weight for logits"));
    devicePass(pass).sample(source.floats(), source.rowCount(), source.columns());
  }

  void fetch(compute::Pass& pass, const compute::Tensor& x) override {
    const DeviceTensor& source = deviceTensor(x);
    devicePass(pass).fetch(source.data(), source.rows() * source.columns(), source.isFloat());
  }

  compute::PassResults finish(compute::Pass& pass) override { return devicePass(pass).finish(); }

  void download(const compute::Tensor& x, std::span<float> out) override {
    const DeviceTensor& source = deviceTensor(x);
    checkCount(source, out.size());
    Stream& stream = m_work->stream();
    if (source.isFloat()) {
      stream.copyToHost(out.data(), source.data(), source.bytes());
      stream.synchronize();
      return;
    }
    std::vector<std::uint16_t> halves(out.size());
    stream.copyToHost(halves.data(), source.data(), source.bytes());
    stream.synchronize();
    std::transform(halves.begin(), halves.end(), out.begin(), compute::floatFromBf16);
  }

  void upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
              compute::Tensor& out) override {
    DeviceTensor& target = deviceTensor(out);
    target.resize(rows, columns);
    checkCount(target, values.size());
    Stream& stream = m_work->stream();
    std::vector<std::uint16_t> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(), compute::bf16FromFloat);
    stream.copyToDevice(target.data(), halves.data(), target.bytes());
    stream.synchronize();
  }

  void uploadLogits(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                    compute::Tensor& out) override {
    DeviceTensor& target = deviceTensor(out);
    target.resizeAs({rows, rows}, columns, true);
    checkCount(target, values.size());
    Stream& stream = m_work->stream();
    stream.copyToDevice(target.data(), values.data(), target.bytes());
    stream.synchronize();
  }

 private:
  static void checkCount(const DeviceTensor& tensor, std::size_t found) {
    const auto expected = static_cast<std::size_t>(tensor.rows() * tensor.columns());
    if (found == expected) return;
    throw Failure(errorAt("tensor copy", std::to_string(found) + " elements", std::to_string(expected)));
  }

  void copyTogether(const std::vector<BlockCopy>& copies, const KeyValuePool& pool) {
    if (copies.empty()) return;
    Stream& stream = m_work->stream();
    for (std::size_t first = 0; first < copies.size(); first += kMostBlockCopies) {
      BlockCopiesArguments arguments{.pool = pool};
      const std::size_t count = std::min(copies.size() - first, std::size_t{kMostBlockCopies});
      std::copy_n(copies.begin() + static_cast<std::ptrdiff_t>(first), count, arguments.copies);
      arguments.count = static_cast<int>(count);
      cuda::copyBlocks(stream, arguments);
    }
  }

  Device m_device;
  bool m_isExact;
  std::shared_ptr<DeviceWork> m_work;
  MatrixProducts m_products;
  std::shared_ptr<DeviceBuffers> m_buffers;
  std::shared_ptr<FixedPlace> m_place;
  std::shared_ptr<RotationTables> m_rotations;
};

std::string describe(const DeviceProperties& properties) {
  return properties.name + ", compute capability " + capabilityOf(properties);
}

/// Returns the reason why no GPU can be used, if the driver gives one.
std::string reasonOf(const Failure& failure) {
  const Error& error = failure.error();
  return error.place.empty() || error.place == "CUDA" ? error.found : error.place + ": " + error.found;
}

std::vector<compute::Device> probe() {
  std::vector<compute::Device> devices;
  try {
    const int count = deviceCount();
    for (int index = 0; index < count; ++index) {
      compute::Device& device = devices.emplace_back();
      device.name = std::string(compute::kNvidiaDevices.name) + ":" + std::to_string(index);
      try {
        const Device card = Device::open(index);
        const DeviceProperties& properties = card.properties();
        device.description = describe(properties);
        device.memoryBytes = properties.memoryBytes;
        if (properties.major < kLeastMajor)
          device.reason = "needs compute capability " + std::to_string(kLeastMajor) + ".0 or more";
      } catch (const Failure& failure) {
        device.reason = reasonOf(failure);
      }
    }
    if (devices.empty())
      devices.push_back({.name = compute::kNvidiaDevices.name,
                         .description = {},
                         .memoryBytes = 0,
                         .reason = "no GPU found"});
  } catch (const Failure& failure) {
    devices.push_back({.name = compute::kNvidiaDevices.name,
                       .description = {},
                       .memoryBytes = 0,
                       .reason = reasonOf(failure)});
  }
  return devices;
}

}  // namespace

std::unique_ptr<compute::Backend> makeCudaBackend(const CudaOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

compute::BackendKind cudaBackendKind() {
  return {.name = compute::kNvidiaDevices.name,
          .probe = probe,
          .make =
              [](const compute::BackendOptions& options) {
                return makeCudaBackend({.device = options.device, .exact = options.exact});
              },
          .meter =
              [](const compute::BackendOptions& options) {
                return [device = Device::open(options.device)] { return measureDevice(device); };
              },
          .memory = deviceMemoryRules,
          .rowsPerPass = kRowsPerPass,
          .freeBytes = [](int device) -> std::uint64_t { return Device::open(device).freeBytes(); },
          // Tensor cores read only this type.
          .keysAndValues = compute::DType::BF16};
}

}  // namespace spanscope::cuda
