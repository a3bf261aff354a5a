// SPDX-License-Identifier: GPL-3.0-or-later
// A weight that borrows the data it was prepared from gives the bits of one that has its own.
#include "engine/compute/weight_format/weight_format.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/kernels/products.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using compute::Arithmetic;
using compute::WeightFormat;
using compute::WeightUse;

namespace {

/// The same product as multiply(), with a weight that is there already.
std::vector<float> multiplyWith(compute::Backend& backend, const compute::Weight& weight, const Product& c,
                                const ProductData& data) {
  const auto x = backend.makeTensor();
  const auto out = backend.makeTensor();
  const auto bias = backend.prepare(data.bias.view(), WeightUse::Vector);
  backend.upload(data.x, c.rows, c.columns, *x);
  if (c.accumulates) backend.upload(data.before, c.rows, c.features, *out);
  backend.matmul(*x, weight, c.hasBias ? bias.get() : nullptr, c.accumulates, *out);
  std::vector<float> result(static_cast<std::size_t>(c.rows * c.features));
  backend.download(*out, result);
  return result;
}

}  // namespace

class TestBorrowedWeights : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20261127);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }
  void productsHaveTheSameBits_data();
  void productsHaveTheSameBits();
  void rowsAreReadWhereTheyLie();
  void vectorsAreNeverBorrowed();

 private:
  std::uint64_t m_seed = 0;
};

void TestBorrowedWeights::productsHaveTheSameBits_data() {
  QTest::addColumn<int>("number");
  QTest::addColumn<bool>("isFast");
  QTest::addColumn<qlonglong>("target");
  for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
    const auto number = static_cast<int>(info.format);
    QTest::addRow("%s fast", info.name) << number << true << qlonglong{0};
    for (const std::int64_t target : availableInstructionSets())
      QTest::addRow("%s %s", info.name, shownName(target).c_str()) << number << false << qlonglong{target};
  }
}

/// Before it is taken over and after, of few rows and many, narrow and wide, of data of any alignment.
void TestBorrowedWeights::productsHaveTheSameBits() {
  QFETCH(int, number);
  QFETCH(bool, isFast);
  QFETCH(qlonglong, target);
  const auto format = static_cast<WeightFormat>(number);
  std::unique_ptr<UseInstructionSet> use;
  if (target != 0) use = std::make_unique<UseInstructionSet>(target);
  Random random(m_seed);
  const std::int64_t block = compute::infoOf(format).blockElements;
  int variant = 0;
  for (const int threads : {1, 3}) {
    const auto backend =
        test::makeBackend("cpu", threads, false, isFast ? Arithmetic::Fast : Arithmetic::F32);
    for (const std::int64_t rows : {1, 2, 3, 5, 12, 13, 40, 200}) {
      const auto blocks = static_cast<std::int64_t>(random.below(block == 256 ? 4 : 40));
      const std::int64_t columns =
          block == 1 ? 1 + static_cast<std::int64_t>(random.below(1200)) : (1 + blocks) * block;
      const Product c{rows,   columns,          1 + static_cast<std::int64_t>(random.below(150)),
                      format, variant % 2 == 0, variant % 3 == 0};
      ++variant;
      const ProductData data = makeData(c, random);
      compute::HostMatrix matrix = data.weight.view();
      const auto own = backend->prepare(matrix, WeightUse::Matrix);
      QVERIFY(!own->isBorrowed());
      const std::vector<float> wanted = multiplyWith(*backend, *own, c, data);
      matrix.stays = true;
      const auto borrowed = backend->prepare(matrix, WeightUse::Matrix);
      QVERIFY(borrowed->isBorrowed());
      QCOMPARE(borrowed->bytes(), own->bytes());
      QVERIFY2(sameBits(multiplyWith(*backend, *borrowed, c, data), wanted),
               qPrintable(describe(c, "other bits while it is borrowed")));
      backend->own(*borrowed);
      QVERIFY(!borrowed->isBorrowed());
      QVERIFY2(sameBits(multiplyWith(*backend, *borrowed, c, data), wanted),
               qPrintable(describe(c, "other bits once it is owned")));
      backend->own(*borrowed);  // nothing more to do
      QVERIFY2(sameBits(multiplyWith(*backend, *borrowed, c, data), wanted),
               qPrintable(describe(c, "other bits when it was owned twice")));
    }
  }
}

void TestBorrowedWeights::rowsAreReadWhereTheyLie() {
  Random random(m_seed);
  const auto backend = test::makeBackend("cpu", 2, false, Arithmetic::F32);
  for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
    const std::int64_t columns = 2 * info.blockElements;
    HostWeight table = randomWeight(random, 7, columns, info.format, 1.0, random.below(4));
    compute::HostMatrix matrix = table.view();
    matrix.stays = true;
    const auto weight = backend->prepare(matrix, WeightUse::Embedding);
    QVERIFY2(weight->isBorrowed(), info.name);
    QCOMPARE(weight->bytes(), matrix.bytes());
    backend->own(*weight);
    QVERIFY2(!weight->isBorrowed(), info.name);
  }
}

void TestBorrowedWeights::vectorsAreNeverBorrowed() {
  Random random(m_seed);
  const auto backend = test::makeBackend("cpu", 2, false, Arithmetic::F32);
  HostWeight vector = randomWeight(random, 1, 100, compute::DType::F32, 1.0, 1);
  compute::HostMatrix matrix = vector.view();
  matrix.stays = true;
  QVERIFY(!backend->prepare(matrix, WeightUse::Vector)->isBorrowed());
}

SPANSCOPE_TEST(tst_borrowed_weights, TestBorrowedWeights)
#include "tst_borrowed_weights.moc"
