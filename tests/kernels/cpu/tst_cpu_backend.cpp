// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cpu/machine_limits.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/support/backends.h"
#include "tests/support/passes.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>

using namespace spanscope;
using compute::DType;
using compute::WeightUse;

class TestCpuBackend : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysWhatItIs() {
    const auto backend = test::makeBackend();
    const compute::DeviceInfo info = backend->info();
    const std::string best = hwy::TargetName(testing::availableInstructionSets().front());
    QCOMPARE(info.threads, 2);
    QCOMPARE(info.instructionSet, best);
    QCOMPARE(info.numericRevision, "cpu-1/" + best);
    QVERIFY(info.rowsAreBitEqual);
    QVERIFY(QString::fromStdString(info.name).endsWith(QString::fromStdString(", " + best + ", 2 threads")));
    QVERIFY(test::makeBackend("cpu", 0)->info().threads >= 1);
  }

  void weightsKeepTheirType_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("use");
    QTest::addColumn<int>("bytesPerElement");
    const int bf16 = static_cast<int>(DType::BF16);
    const int f16 = static_cast<int>(DType::F16);
    QTest::newRow("bf16 matrix") << bf16 << static_cast<int>(WeightUse::Matrix) << 2;
    QTest::newRow("f16 matrix") << f16 << static_cast<int>(WeightUse::Matrix) << 4;
    QTest::newRow("bf16 embedding") << bf16 << static_cast<int>(WeightUse::Embedding) << 2;
    QTest::newRow("f16 embedding") << f16 << static_cast<int>(WeightUse::Embedding) << 4;
    QTest::newRow("bf16 vector") << bf16 << static_cast<int>(WeightUse::Vector) << 4;
  }
  void weightsKeepTheirType() {
    QFETCH(int, type);
    QFETCH(int, use);
    QFETCH(int, bytesPerElement);
    const auto backend = test::makeBackend("cpu", 1);
    const std::vector<std::byte> zeros(std::size_t{64} * 32 * 2);
    const auto weight =
        backend->prepare({zeros.data(), static_cast<DType>(type), 64, 32}, static_cast<WeightUse>(use));
    QCOMPARE(weight->bytes(), static_cast<std::size_t>(64 * 32 * bytesPerElement));
    QCOMPARE(weight->rows(), 64);
    QCOMPARE(weight->columns(), 32);
  }

  void refusesAbsurdSizes() {
    const auto backend = test::makeBackend("cpu", 1);
    const std::byte byte{};
    const auto prepare = [&](std::int64_t rows, std::int64_t columns) {
      backend->prepare({&byte, DType::BF16, rows, columns}, WeightUse::Matrix);
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
    const compute::KvShape store{1, 4, 16, 2, 8, DType::F32};
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
