// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/machine_limits.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/support/backends.h"
#include "tests/support/passes.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using compute::WeightFormat;
using compute::WeightUse;

class TestCpuBackend : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theInstructionSetCanBeChosen() {
    for (const std::int64_t target : availableInstructionSets()) {
      const UseInstructionSet restoresAtTheEnd(target);
      const std::string name = target == HWY_SCALAR ? "scalar" : shownName(target);
      cpu::useInstructionSet(name);
      QCOMPARE(test::makeBackend("cpu", 1)->info().numericRevision,
               std::string("cpu-3/") + hwy::TargetName(target));
    }
    try {
      cpu::useInstructionSet("MMX");
      QFAIL("taken");
    } catch (const Failure& failure) {
      QCOMPARE(failure.error().found, std::string("\"MMX\""));
      QVERIFY(failure.error().expected.find("scalar") != std::string::npos);
    }
    const UseInstructionSet usual(0);
  }

  /// Those that differ in fast products alone, too.
  void fastInstructionSetsCanBeChosen() {
    for (const std::int64_t target : fastInstructionSets()) {
      cpu::ByteDots wanted = cpu::ByteDots::None;
      {
        const UseInstructionSet use(target);
        wanted = cpu::lowPrecision().byteDots;
      }
      const UseInstructionSet restoresAtTheEnd(0);
      cpu::useInstructionSet(target == HWY_SCALAR ? "scalar" : shownName(target));
      QCOMPARE(cpu::lowPrecision().byteDots, wanted);
    }
  }

  void saysWhatItIs() {
    const auto backend = test::makeBackend();
    const compute::DeviceInfo info = backend->info();
    const std::string target = hwy::TargetName(testing::availableInstructionSets().front());
    const std::string best = testing::shownName(testing::availableInstructionSets().front());
    QCOMPARE(info.threads, 2);
    QCOMPARE(info.instructionSet, best);
    QCOMPARE(info.numericRevision, "cpu-3/" + target);
    QVERIFY(info.rowsAreBitEqual);
    QVERIFY(QString::fromStdString(info.name).endsWith(QString::fromStdString(", " + best + ", 2 threads")));
    QVERIFY(test::makeBackend("cpu", 0)->info().threads >= 1);
  }

  void weightsKeepTheirFormat_data() {
    QTest::addColumn<int>("number");
    QTest::addColumn<int>("use");
    QTest::addColumn<int>("bytes");
    const auto row = [](const char* name, WeightFormat format, WeightUse use, int bytes) {
      QTest::newRow(name) << static_cast<int>(format) << static_cast<int>(use) << bytes;
    };
    constexpr int kElements = 64 * 256;
    row("bf16 matrix", WeightFormat::BF16, WeightUse::Matrix, kElements * 2);
    row("f16 matrix", WeightFormat::F16, WeightUse::Matrix, kElements * 2);
    row("bf16 embedding", WeightFormat::BF16, WeightUse::Embedding, kElements * 2);
    row("f16 embedding", WeightFormat::F16, WeightUse::Embedding, kElements * 2);
    row("bf16 vector", WeightFormat::BF16, WeightUse::Vector, kElements * 4);
    row("packed vector", WeightFormat::Q8_0, WeightUse::Vector, kElements * 4);
    // Packed weights take no more than in the file, but for scales of six bits.
    row("packed embedding", WeightFormat::Q6_K, WeightUse::Embedding, 64 * 210);
    row("Q8_0 matrix", WeightFormat::Q8_0, WeightUse::Matrix, 64 * 8 * 34);
    row("Q4_1 matrix", WeightFormat::Q4_1, WeightUse::Matrix, 64 * 8 * 20);
    row("Q5_0 matrix", WeightFormat::Q5_0, WeightUse::Matrix, 64 * 8 * 22);
    row("Q6_K matrix", WeightFormat::Q6_K, WeightUse::Matrix, 64 * 210);
    row("Q4_K matrix", WeightFormat::Q4_K, WeightUse::Logits, 64 * (144 + 4));
  }
  void weightsKeepTheirFormat() {
    QFETCH(int, number);
    QFETCH(int, use);
    QFETCH(int, bytes);
    const auto backend = test::makeBackend("cpu", 1);
    const std::vector<std::byte> zeros(std::size_t{64} * 256 * 2);
    const auto weight = backend->prepare({zeros.data(), static_cast<WeightFormat>(number), 64, 256},
                                         static_cast<WeightUse>(use));
    QCOMPARE(weight->bytes(), static_cast<std::size_t>(bytes));
    QCOMPARE(weight->rows(), 64);
    QCOMPARE(weight->columns(), 256);
  }

  void refusesAbsurdSizes() {
    const auto backend = test::makeBackend("cpu", 1);
    const std::byte byte{};
    const auto prepare = [&](std::int64_t rows, std::int64_t columns) {
      backend->prepare({&byte, WeightFormat::BF16, rows, columns}, WeightUse::Matrix);
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    QVERIFY_EXCEPTION_THROWN(prepare(-1, 4), Failure);
    QVERIFY_EXCEPTION_THROWN(prepare(0, 4), Failure);
    QVERIFY_EXCEPTION_THROWN(prepare(kMost, kMost), Failure);
    QVERIFY_EXCEPTION_THROWN(prepare(std::int64_t{1} << 40, std::int64_t{1} << 20), Failure);
    const auto tensor = backend->makeTensor();
    QVERIFY_EXCEPTION_THROWN(tensor->resize(kMost, 8), Failure);
    QVERIFY_EXCEPTION_THROWN(tensor->resize(std::int64_t{1} << 40, std::int64_t{1} << 18), Failure);
    tensor->resize(2, 3);
    QCOMPARE(tensor->rows(), 2);
    std::vector<float> five(5);
    QVERIFY_EXCEPTION_THROWN(backend->download(*tensor, five), Failure);
  }

  void failureNamesWhatWasAskedFor() {
    const auto backend = test::makeBackend("cpu", 1);
    try {
      backend->makeTensor()->resize(std::int64_t{1} << 40, std::int64_t{1} << 18);
      QFAIL("expected a failure");
    } catch (const Failure& failure) {
      QVERIFY2(QString(failure.what()).contains("1152921504606846976 bytes"), failure.what());
    }
  }

  void refusesPassesThatDoNotFit_data() {
    QTest::addColumn<int>("what");
    for (int what = 0; what < 14; ++what) QTest::addRow("defect %d", what) << what;
  }
  void refusesPassesThatDoNotFit() {
    QFETCH(int, what);
    const auto backend = test::makeBackend("cpu", 1);
    const compute::KvShape store{1, 4, 16, 2, 8, compute::DType::F32};
    compute::AttentionShape shape{4, 2, 8, 1};
    compute::RotaryTable rotary{{1, 1, 1, 1}, 1};
    compute::PassInputs inputs = testing::plainRows(2);
    inputs.localIndices = {4, 5};
    inputs.runs = {{0, 2, 0, {{{1, 2}, 0, 6, 0, true}}}};
    compute::QueryRun& run = inputs.runs[0];
    const auto plan = [&] { return backend->makePass(shape, rotary, store, inputs); };
    QVERIFY(plan() != nullptr);
    switch (what) {
      case 0:
        shape.queryHeads = 3;
        break;
      case 1:
        shape.headSize = 4;
        break;
      case 2:
        rotary.inverseFrequencies.pop_back();
        break;
      case 3:
        run.keys[0].end = 33;
        break;
      case 4:
        run.keys[0].begin = -1;
        break;
      case 5:
        run.keys[0].blocks[1] = 4;
        break;
      case 6:
        inputs.localIndices = {5, 4};
        break;
      case 7:
        inputs.localIndices[0] = -1;
        break;
      case 8:
        inputs.slots[1] = 64;
        break;
      case 9:
        inputs.slots.pop_back();
        break;
      case 10:
        run.rowCount = 3;
        break;
      case 11:
        inputs.hiddenRows = {2};
        break;
      case 12:
        inputs.draws.emplace_back();
        break;
      default:
        run.keys[0].blocks[0] = -1;
        break;
    }
    QVERIFY_EXCEPTION_THROWN(plan(), Failure);
  }

  void stopIsKeptUntilTheNextBegin() {
    const auto backend = test::makeBackend();
    QVERIFY(!backend->stopped());
    std::stop_source stop;
    backend->begin(stop.get_token());
    QVERIFY(!backend->stopped());
    stop.request_stop();
    QVERIFY(backend->stopped());
    backend->begin({});
    QVERIFY(!backend->stopped());
  }

  void limitsArePlausible() {
    cpu::MachineMeter meter(1);
    const cpu::MachineLimits limits = meter.measure(2);
    QVERIFY(limits.flops > 1e8 && limits.flops < 1e12);
    QVERIFY(limits.readBytes > 1e7 && limits.readBytes < 1e12);
  }
};

SPANSCOPE_TEST(tst_cpu_backend, TestCpuBackend)
#include "tst_cpu_backend.moc"
