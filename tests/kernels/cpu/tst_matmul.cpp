// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/kernels/products.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

using namespace spanscope;
using namespace spanscope::testing;
using compute::WeightFormat;

namespace {

/// What the kernels promise, bit for bit: one chain, then bias, then the former value.
std::vector<float> chains(const Product& c, const ProductData& data, bool isFused) {
  const std::vector<float> weight = data.weight.values();
  const std::vector<float> bias = data.bias.values();
  std::vector<float> result;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t n = 0; n < c.features; ++n) {
      float sum = 0;
      for (std::int64_t k = 0; k < c.columns; ++k) {
        const float a = data.x[static_cast<std::size_t>(r * c.columns + k)];
        const float b = weight[static_cast<std::size_t>(n * c.columns + k)];
        sum = isFused ? std::fma(a, b, sum) : a * b + sum;
      }
      if (c.hasBias) sum += bias[static_cast<std::size_t>(n)];
      if (c.accumulates) sum += data.before[static_cast<std::size_t>(r * c.features + n)];
      result.push_back(sum);
    }
  }
  return result;
}

}  // namespace

class TestCpuMatmul : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20250101);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void isOneChain_data() {
    QTest::addColumn<qlonglong>("target");
    for (const std::int64_t target : availableInstructionSets()) {
      QTest::addRow("%s", hwy::TargetName(target)) << static_cast<qlonglong>(target);
    }
  }
  void isOneChain() {
    QFETCH(qlonglong, target);
    const UseInstructionSet use(target);
    Random random(m_seed);
    const bool isFused = hasFusedMultiplyAdd(target);
    int variant = 0;
    for (const int threads : {1, 3}) {
      const auto backend = test::makeBackend("cpu", threads);
      QCOMPARE(backend->info().instructionSet, testing::shownName(target));
      for (std::int64_t rows = 1; rows <= 26; ++rows) {
        const WeightFormat format = variant % 3 == 0 ? WeightFormat::F32 : WeightFormat::BF16;
        const Product c{rows,
                        1 + static_cast<std::int64_t>(random.below(300)),
                        1 + static_cast<std::int64_t>(random.below(150)),
                        format,
                        (variant & 1) != 0,
                        (variant & 2) != 0};
        ++variant;
        const ProductData data = makeData(c, random);
        QVERIFY2(sameBits(multiply(*backend, c, data), chains(c, data, isFused)),
                 qPrintable(describe(c, "not one chain")));
      }
      // From some rows on, weights of 16 bits are widened for all of them.
      for (const std::int64_t rows : {64, 65, 97, 200, 800}) {
        for (const WeightFormat format : {WeightFormat::F32, WeightFormat::F16, WeightFormat::BF16}) {
          // Slow chains of many rows are what takes the time here: no more features than a panel and a half.
          const Product c{rows, 300, 45, format, true, rows % 3 == 0};
          const ProductData data = makeData(c, random);
          QVERIFY2(sameBits(multiply(*backend, c, data), chains(c, data, isFused)),
                   qPrintable(describe(c, "not one chain")));
        }
      }
    }
  }

  void packedWeightsAreWidenedExactly_data() {
    QTest::addColumn<qlonglong>("target");
    QTest::addColumn<int>("number");
    for (const std::int64_t target : availableInstructionSets()) {
      for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
        if (info.isPacked())
          QTest::addRow("%s, %s", hwy::TargetName(target), info.name)
              << static_cast<qlonglong>(target) << static_cast<int>(info.format);
      }
    }
  }
  /// Few rows, which stream the weights, and many, which share what is widened.
  void packedWeightsAreWidenedExactly() {
    QFETCH(qlonglong, target);
    QFETCH(int, number);
    const auto format = static_cast<WeightFormat>(number);
    const UseInstructionSet use(target);
    Random random(m_seed);
    const bool isFused = hasFusedMultiplyAdd(target);
    const auto several = test::makeBackend("cpu", 2);
    const auto single = test::makeBackend("cpu", 1);
    for (const std::int64_t rows : {1, 2, 5, 12, 13, 40, 200, 400}) {
      // Of the most rows, one thread takes several panels in a block.
      const auto& backend = rows == 400 ? single : several;
      // Up to three parts of the columns that are widened at a time.
      const std::int64_t block = compute::infoOf(format).blockElements;
      const std::int64_t blocks = 1 + static_cast<std::int64_t>(random.below(768U / block));
      // The slow chains of many rows are what takes the time: no more features than a panel and a half.
      const auto features =
          static_cast<std::int64_t>(rows < 40 ? 1 + random.below(150) : 33 + random.below(13));
      const Product c{rows, blocks * block, features, format, rows % 2 == 0, rows % 3 == 0};
      const ProductData data = makeData(c, random);
      QVERIFY2(sameBits(multiply(*backend, c, data), chains(c, data, isFused)),
               qPrintable(describe(c, "not one chain")));
    }
  }

  void stopEndsAProductSoon() {
    using Clock = std::chrono::steady_clock;
    const auto backend = test::makeBackend();
    const auto x = backend->makeTensor();
    const auto out = backend->makeTensor();
    const std::vector<float> values(std::size_t{2048} * 2048, 0.5F);
    const HostWeight weight(values, 2048, 2048, compute::DType::BF16);
    const auto panels = backend->prepare(weight.view(), compute::WeightUse::Matrix);
    backend->upload(values, 2048, 2048, *x);
    const auto milliseconds = [](Clock::duration time) {
      return std::chrono::duration<double, std::milli>(time).count();
    };
    const auto begin = Clock::now();
    backend->matmul(*x, *panels, nullptr, false, *out);
    const double whole = milliseconds(Clock::now() - begin);
    double best = whole;
    for (int attempt = 0; attempt < 5; ++attempt) {
      std::stop_source stop;
      backend->begin(stop.get_token());
      std::atomic<Clock::time_point> requested;
      std::jthread watch([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        requested = Clock::now();
        stop.request_stop();
      });
      backend->matmul(*x, *panels, nullptr, false, *out);
      const auto end = Clock::now();
      watch.join();
      QVERIFY(backend->stopped());
      best = std::min(best, milliseconds(end - requested.load()));
    }
    backend->begin(std::stop_token());
    QVERIFY(!backend->stopped());
    // About 1 ms of 100 or more. A busy machine holds up both alike.
    QVERIFY2(best < whole / 4, qPrintable(QString("stopped after %1 of %2 ms").arg(best).arg(whole)));
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_matmul, TestCpuMatmul)
#include "tst_matmul.moc"
