// SPDX-License-Identifier: GPL-3.0-or-later
// What does not fit is refused before anything is loaded.
#include "engine/base/error.h"
#include "engine/model/weights.h"
#include "engine/run/run_options.h"
#include "engine/trace/sink.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <limits>
#include <optional>
#include <string>
#include <utility>

using namespace spanscope;
using compute::DType;
using compute::WeightFormat;
using spanscope::product_text::says;

namespace {

/// The processor, as if it had this much memory.
compute::Backends withMemory(std::uint64_t bytes) {
  compute::BackendKind kind = test::cpuBackends().choose("cpu").kind;
  kind.probe = [bytes, probe = std::move(kind.probe)] {
    std::vector<compute::Device> devices = probe();
    devices.front().memoryBytes = bytes;
    return devices;
  };
  return compute::Backends({std::move(kind)});
}

}  // namespace

class TestModelMemory : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void weightsAreThoseOfTheDecoder() {
    const auto bundle = workbench::loadModelBundle(workbench::bundledModelDirectory(), test::cpuBackends());
    const workbench::MemoryNeed need = workbench::memoryNeed(bundle.config, bundle.weights, nullptr, {});
    // Norms and the padding of panels are left out.
    const auto loaded = static_cast<double>(bundle.decoder->weightBytes());
    QVERIFY(static_cast<double>(need.weights) <= loaded && static_cast<double>(need.weights) > 0.98 * loaded);
    QCOMPARE(need.total(), need.weights);
  }

  void poolIsThatOfTheStore() {
    const model::ModelConfig config = model::namedShape("llama-8b");
    run::SessionConfig session;
    session.blockCount = 100;
    session.kvType = DType::BF16;
    const workbench::MemoryNeed need =
        workbench::memoryNeed(config, model::weightAmounts(config, WeightFormat::BF16), &session, {});
    // 128 KiB a token.
    QCOMPARE(need.pool(), std::uint64_t{100} * 16 * 128 * 1024);
    QVERIFY(need.weights > std::uint64_t{14} << 30U && need.weights < std::uint64_t{15} << 30U);
  }

  /// A device that pads heads, computes in bf16 and needs memory of its own.
  void countsWhatTheDeviceMakesOfIt() {
    compute::MemoryRules rules;
    rules.ofStore = [plain = rules.ofStore](compute::KvShape shape) {
      shape.headSize = 64;
      return plain(shape);
    };
    rules.ofMatrix = [](WeightFormat, std::int64_t elements) {
      return static_cast<std::uint64_t>(2 * elements);
    };
    rules.ofActivation = 2;
    rules.ofPasses = 1000;
    model::ModelConfig config = model::namedShape("3m");
    config.headSize = 48;
    run::SessionConfig session;
    session.blockCount = 100;
    const model::WeightAmounts weights = model::weightAmounts(config, WeightFormat::F32);
    const workbench::MemoryNeed plain = workbench::memoryNeed(config, weights, &session, {});
    const workbench::MemoryNeed own = workbench::memoryNeed(config, weights, &session, rules);
    QCOMPARE(own.pool(), plain.pool() / 48 * 64);
    QCOMPARE(own.weights, plain.weights / 2);
    const auto logits = static_cast<std::uint64_t>(config.vocabularySize) * 4;
    QCOMPARE(own.workspace, (plain.workspace - logits) / 2 + logits + 1000);
  }

  void loadingAsksTheKindOfDevice() {
    compute::BackendKind kind = test::cpuBackends().choose("cpu").kind;
    kind.memory = [] {
      compute::MemoryRules rules;
      rules.ofStore = [](const compute::KvShape&) { return std::numeric_limits<std::uint64_t>::max(); };
      return rules;
    };
    workbench::ModelBundle bundle =
        workbench::loadModelBundle(workbench::bundledModelDirectory(), compute::Backends({std::move(kind)}));
    trace::NoSink sink;
    QVERIFY_EXCEPTION_THROWN(workbench::makeSession(bundle, {}, sink), Failure);
  }

  /// A device whose passes should be long gets long ones, and they count.
  void sessionsTakeTheRowsThatSuitTheDevice() {
    compute::BackendKind kind = test::cpuBackends().choose("cpu").kind;
    trace::NoSink sink;
    const auto rowsOf = [&](std::int32_t suiting, std::int32_t wanted) {
      kind.rowsPerPass = suiting;
      workbench::ModelBundle bundle =
          workbench::loadModelBundle(workbench::bundledModelDirectory(), compute::Backends({kind}));
      run::SessionConfig config;
      config.blockCount = 100;
      config.rowsPerPass = wanted;
      return workbench::makeSession(bundle, config, sink)->config().rowsPerPass;
    };
    QCOMPARE(rowsOf(0, 512), 512);
    QCOMPARE(rowsOf(2048, 512), 2048);
    QCOMPARE(rowsOf(2048, 4096), 4096);
  }

  /// Unless the user chose a type, keys and values have the type that suits the device: in the counts, in the
  /// store, and in the block keys.
  void keysAndValuesAreAsTheDeviceHasThemBest() {
    compute::BackendKind kind = test::cpuBackends().choose("cpu").kind;
    QCOMPARE(kind.keysAndValues, DType::F32);
    const QTemporaryDir folder;
    struct Found {
      DType type;
      std::int64_t cachedTokens;
    };
    const auto open = [&](DType suiting, std::optional<DType> wanted) {
      kind.keysAndValues = suiting;
      run::SessionConfig config;
      config.blockCount = 100;
      config.kvType = wanted;
      config.store.folder = folder.filePath("store").toStdString();
      config.store.diskBytes = std::uint64_t{1} << 26U;
      workbench::ModelOptions options;
      options.session = config;
      workbench::ModelBundle bundle =
          workbench::loadModelBundle(workbench::bundledModelDirectory(), compute::Backends({kind}), options);
      trace::NoSink sink;
      const auto session = workbench::makeSession(bundle, config, sink);
      layout::SpanTable table;
      layout::Segment& segment = table.segments.emplace_back();
      for (TokenId token = 20; token < 60; ++token) segment.tokens.push_back(token);
      const std::int64_t cached = session->logits({.table = table}).cachedTokens;
      session->keepAll();
      return Found{*session->config().kvType, cached};
    };
    const Found f32 = open(DType::F32, {});
    QCOMPARE(f32.type, DType::F32);
    QCOMPARE(f32.cachedTokens, std::int64_t{0});
    const Found bf16 = open(DType::BF16, {});
    QCOMPARE(bf16.type, DType::BF16);
    QCOMPARE(bf16.cachedTokens, std::int64_t{0});
    // What was chosen is taken on every device, and shares its blocks with what is the same unchosen.
    const Found chosenF32 = open(DType::BF16, DType::F32);
    QCOMPARE(chosenF32.type, DType::F32);
    QVERIFY(chosenF32.cachedTokens > 30);
    const Found chosenBf16 = open(DType::F32, DType::BF16);
    QCOMPARE(chosenBf16.type, DType::BF16);
    QVERIFY(chosenBf16.cachedTokens > 30);

    // More than any machine has, of the one type.
    kind.memory = [] {
      compute::MemoryRules rules;
      rules.ofStore = [](const compute::KvShape& shape) {
        return shape.type == DType::BF16 ? std::uint64_t{1} : std::uint64_t{1} << 50U;
      };
      return rules;
    };
    QVERIFY_EXCEPTION_THROWN(open(DType::F32, {}), Failure);
    QVERIFY_EXCEPTION_THROWN(open(DType::BF16, DType::F32), Failure);
    QCOMPARE(open(DType::BF16, {}).type, DType::BF16);
  }

  void saysTheLargestPoolThatWouldFit() {
    const model::ModelConfig config = model::namedShape("3m");
    run::SessionConfig session;
    session.blockCount = 1000;
    workbench::MemoryNeed need =
        workbench::memoryNeed(config, model::weightAmounts(config, WeightFormat::BF16), &session, {});
    compute::Device device{.name = "small", .description = {}, .memoryBytes = need.total(), .reason = {}};
    workbench::checkMemory(need, device);
    device.memoryBytes -= 1;
    try {
      workbench::checkMemory(need, device);
      QFAIL("it fits");
    } catch (const Failure& failure) {
      const std::string text = failure.what();
      QVERIFY2(text.find("memory of small: ") == 0, text.c_str());
      QVERIFY2(says(text, "<for-a-pool> 1000 blocks in f32"), text.c_str());
      QVERIFY2(text.find("pool of 999 blocks would fit") != std::string::npos, text.c_str());
    }
    device.memoryBytes = need.weights;
    try {
      workbench::checkMemory(need, device);
      QFAIL("it fits");
    } catch (const Failure& failure) {
      QVERIFY2(says(std::string(failure.what()), "<too-little-any>"), failure.what());
    }
    device.memoryBytes = 0;  // not known
    workbench::checkMemory(need, device);
  }

  void sumsDoNotOverflow() {
    model::ModelConfig config = model::namedShape("llama-8b");
    run::SessionConfig session;
    session.blockCount = std::numeric_limits<std::int32_t>::max();
    session.blockSize = std::numeric_limits<std::int32_t>::max();
    const workbench::MemoryNeed need =
        workbench::memoryNeed(config, model::weightAmounts(config, WeightFormat::F32), &session, {});
    QCOMPARE(need.total(), std::numeric_limits<std::uint64_t>::max());
  }

  void nothingIsLoadedThatDoesNotFit() {
    std::size_t read = 0;
    workbench::ModelOptions options{.threads = 1};
    options.session.emplace();
    options.progress = [&read](std::size_t, std::size_t) { ++read; };
    const auto directory = workbench::bundledModelDirectory();
    QVERIFY_EXCEPTION_THROWN(workbench::loadModelBundle(directory, withMemory(4U << 20U), options), Failure);
    QCOMPARE(read, std::size_t{0});
    // The weights alone fit; a pool that is asked for later is refused then.
    options.session.reset();
    workbench::ModelBundle bundle = workbench::loadModelBundle(directory, withMemory(4U << 20U), options);
    QVERIFY(read > 0);
    trace::NoSink sink;
    QVERIFY_EXCEPTION_THROWN(workbench::makeSession(bundle, {}, sink), Failure);
  }
};

SPANSCOPE_TEST(tst_model_memory, TestModelMemory, QCoreApplication)
#include "tst_model_memory.moc"
