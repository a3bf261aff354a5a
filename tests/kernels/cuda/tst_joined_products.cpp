// SPDX-License-Identifier: GPL-3.0-or-later
// Products of few rows that follow each other are one launch if the result is the same, and no later command
// overtakes them.
#include "kernels/cuda/backend/device_work.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;
using cuda::FewRowProduct;

namespace {

constexpr int kRows = 3;
constexpr int kWidth =
    16;  ///< depth and columns, so that an out can be the x or the weight of another product
constexpr std::size_t kElements = std::size_t{kWidth} * kWidth;

/// Matrices of 16 × 16 on a card, and work that is given to it. As weights they have all their rows, as x and
/// out the first three.
class Bench {
 public:
  explicit Bench(cuda::DeviceWorkOptions options = {}) {
    options.counts = counts;
    work = std::make_unique<cuda::DeviceWork>(m_card.device, std::move(options));
  }

  /// A matrix of small integers, which products keep exact; the same for the same name.
  Bf16* matrix(char name) {
    const auto found = m_matrices.find(name);
    if (found != m_matrices.end()) return found->second.data();
    std::vector<Bf16> values;
    for (std::size_t i = 0; i < kElements; ++i)
      values.push_back(
          roundedToBf16(static_cast<float>((i * 7 + static_cast<std::size_t>(name) * 5) % 3) - 1));
    return m_matrices.emplace(name, m_card.upload(values)).first->second.data();
  }
  /// What it holds now: of what was given to the work and waits there nothing.
  std::vector<float> values(char name) {
    std::vector<Bf16> values(kElements);
    m_card.stream.copyToHost(values.data(), matrix(name), kElements * sizeof(Bf16));
    m_card.stream.synchronize();
    return toFloats(values);
  }

  FewRowProduct product(char x, char weight, char out) {
    return {.rows = kRows,
            .depth = kWidth,
            .x = matrix(x),
            .xStride = kWidth,
            .count = 1,
            .weights = {{.elements = matrix(weight),
                         .stride = kWidth,
                         .columns = kWidth,
                         .out = matrix(out),
                         .outStride = kWidth}}};
  }
  std::size_t launches() const { return cuda::emulation::launchesOf(m_card.device); }

  std::shared_ptr<cuda::GraphCounts> counts = std::make_shared<cuda::GraphCounts>();

 private:
  EmulatedDevice m_card;
  std::map<char, DeviceArray<Bf16>> m_matrices;

 public:
  std::unique_ptr<cuda::DeviceWork> work;  ///< gone before the memory that it works on
};

cuda::DeviceWorkOptions patient() {
  return {.mostMilliseconds = std::numeric_limits<double>::infinity()};
}

using Make = std::function<std::vector<FewRowProduct>(Bench&)>;

/// Gives the products one by one, and waits for each: what they have to give in any case.
std::map<char, std::vector<float>> oneByOne(const Make& make, const std::string& names) {
  Bench bench;
  for (const FewRowProduct& product : make(bench)) {
    bench.work->giveProduct(product);
    bench.work->synchronize();
  }
  std::map<char, std::vector<float>> values;
  for (const char name : names) values[name] = bench.values(name);
  return values;
}

}  // namespace

Q_DECLARE_METATYPE(Make)

class TestCudaJoinedProducts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatIsJoined_data() {
    QTest::addColumn<Make>("make");
    QTest::addColumn<int>("launches");
    const auto add = [](const char* name, int launches, const Make& make) {
      QTest::newRow(name) << make << launches;
    };
    add("query, key and value", 1, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('x', 'b', 'k'), b.product('x', 'c', 'v')};
    });
    add("one weight twice", 1, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('x', 'a', 'k')};
    });
    add("five", 2, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('x', 'b', 'k'), b.product('x', 'c', 'v'),
                         b.product('x', 'd', 'l'), b.product('x', 'e', 'm')};
    });
    add("another x", 2, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('y', 'b', 'k')};
    });
    add("other rows", 2, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'k')};
      products[1].rows = 2;
      return products;
    });
    add("another depth", 2, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'k')};
      products[1].depth = 8;
      return products;
    });
    add("rows elsewhere apart", 2, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'k')};
      products[1].xStride = 32;
      return products;
    });
    add("the first out is the next x", 2, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('q', 'b', 'k')};
    });
    add("the first out is the next weight", 2, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('x', 'q', 'k')};
    });
    add("the next out is the first weight", 2, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('x', 'b', 'a')};
    });
    add("the same out", 2, [](Bench& b) {
      return std::vector{b.product('x', 'a', 'q'), b.product('x', 'b', 'q')};
    });
    add("added to the first out", 2, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'q')};
      products[1].weights[0].accumulate = true;
      return products;
    });
    add("the first out is the next bias", 2, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'k')};
      products[0].weights[0].outIsFloat = true;
      products[0].weights[0].outStride = 20;
      products[1].weights[0].bias = static_cast<const float*>(products[0].weights[0].out) + 20;
      return products;
    });
    add("the next out is the first bias", 2, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'k')};
      products[0].weights[0].bias = static_cast<const float*>(products[1].weights[0].out);
      products[1].weights[0].outIsFloat = true;
      return products;
    });
    add("outs side by side", 1, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'q')};
      products[1].weights[0].out = b.matrix('q') + kRows * kWidth;
      return products;
    });
    add("outs that share an element", 2, [](Bench& b) {
      std::vector products{b.product('x', 'a', 'q'), b.product('x', 'b', 'q')};
      products[1].weights[0].out = b.matrix('q') + kRows * kWidth - 1;
      return products;
    });
  }
  void whatIsJoined() {
    QFETCH(Make, make);
    QFETCH(int, launches);
    const std::string names = "xyabcdeqkvlm";
    const auto expected = oneByOne(make, names);
    Bench bench;
    for (const FewRowProduct& product : make(bench)) bench.work->giveProduct(product);
    bench.work->synchronize();
    QCOMPARE(bench.launches(), static_cast<std::size_t>(launches));
    // Bits, since a bias that is no bias may be any number.
    for (const auto& [name, values] : expected) {
      const std::vector<float> actual = bench.values(name);
      QVERIFY2(std::memcmp(actual.data(), values.data(), values.size() * sizeof(float)) == 0,
               qPrintable(QString("matrix %1").arg(QLatin1Char(name))));
    }
  }

  /// Any later use of the work, or any command after the product, finds the result complete.
  void nothingOvertakes_data() {
    QTest::addColumn<int>("what");
    QTest::newRow("an operation") << 0;
    QTest::newRow("the stream") << 1;
    QTest::newRow("a note") << 2;
    QTest::newRow("a flush") << 3;
    QTest::newRow("a replay") << 4;
    QTest::newRow("a question for a stop") << 5;
    QTest::newRow("another pass") << 6;
    QTest::newRow("memory that goes") << 7;
    QTest::newRow("a wait") << 8;
  }
  void nothingOvertakes() {
    QFETCH(int, what);
    Bench bench;
    cuda::Stream& stream = bench.work->stream();
    const std::vector<float> before = bench.values('q');
    bench.work->giveProduct(bench.product('x', 'a', 'q'));
    stream.synchronize();
    QCOMPARE(bench.values('q'), before);
    std::vector<Bf16> copied(kElements);
    switch (what) {
      case 0:
        bench.work->give(cuda::copyToHost, {copied.data(), bench.matrix('q'), kElements * sizeof(Bf16)});
        break;
      case 1:
        bench.work->stream();
        break;
      case 2:
        bench.work->note();
        break;
      case 3:
        bench.work->flush();
        break;
      case 4:
        bench.work->replay();
        break;
      case 5:
        QVERIFY(!bench.work->stopped());
        break;
      case 6:
        bench.work->begin({});
        break;
      case 7:
        bench.work->keep(cuda::DeviceMemory(cuda::Device::open(0), 16, "a test"));
        break;
      default:
        bench.work->synchronize();
    }
    stream.synchronize();
    QVERIFY(bench.values('q') != before);
    QCOMPARE(bench.launches(), std::size_t{1});
    if (what == 0) QCOMPARE(toFloats(copied), bench.values('q'));
  }

  /// The same where work is noted: the launch is a note in its place.
  void aNoteComesInItsPlace() {
    Bench bench(patient());
    const std::vector<float> before = bench.values('q');
    std::vector<Bf16> early(kElements);
    std::vector<Bf16> late(kElements);
    bench.work->note();
    bench.work->give(cuda::copyToHost, {early.data(), bench.matrix('q'), kElements * sizeof(Bf16)});
    bench.work->giveProduct(bench.product('x', 'a', 'q'));
    bench.work->giveProduct(bench.product('x', 'b', 'k'));
    bench.work->give(cuda::copyToHost, {late.data(), bench.matrix('q'), kElements * sizeof(Bf16)});
    bench.work->replay();
    bench.work->synchronize();
    QCOMPARE(toFloats(early), before);
    QVERIFY(bench.values('q') != before);
    QCOMPARE(toFloats(late), bench.values('q'));
    QCOMPARE(bench.launches(), std::size_t{1});
  }

  /// From step to step, and with the last product still waiting when the step ends.
  void joinedNotesAreReplayed() {
    Bench bench(patient());
    const auto step = [&](bool isBiased) {
      bench.work->begin({});
      bench.work->note();
      FewRowProduct first = bench.product('x', 'a', 'q');
      if (isBiased) first.weights[0].accumulate = true;
      bench.work->giveProduct(first);
      bench.work->giveProduct(bench.product('x', 'b', 'k'));
      QVERIFY(!bench.work->stopped());
      bench.work->giveProduct(bench.product('q', 'c', 'v'));
      bench.work->replay();
      bench.work->synchronize();
    };
    for (int i = 0; i < 4; ++i) step(false);
    QCOMPARE(*bench.counts,
             (cuda::GraphCounts{.captures = 1, .replays = 3, .given = 1, .dropped = 0, .notes = 2}));
    QCOMPARE(bench.launches(), std::size_t{8});
    step(true);
    QCOMPARE(bench.counts->captures, std::int64_t{2});
  }

  /// A pass that failed forgets what it noted, and nothing that came before it.
  void dropForgetsNotes() {
    Bench bench(patient());
    const std::vector<float> q = bench.values('q');
    const std::vector<float> k = bench.values('k');
    bench.work->giveProduct(bench.product('x', 'a', 'q'));
    bench.work->drop();
    bench.work->synchronize();
    QVERIFY(bench.values('q') != q);
    bench.work->giveProduct(bench.product('y', 'a', 'q'));
    bench.work->note();
    bench.work->giveProduct(bench.product('x', 'b', 'k'));
    bench.work->drop();
    bench.work->synchronize();
    QCOMPARE(bench.values('k'), k);
    QCOMPARE(bench.launches(), std::size_t{2});
  }

  void aStopComesBetween() {
    for (const bool isNoted : {false, true}) {
      Bench bench(patient());
      const std::vector<float> q = bench.values('q');
      std::stop_source stop;
      bench.work->begin(stop.get_token());
      if (isNoted) bench.work->note();
      bench.work->giveProduct(bench.product('x', 'a', 'q'));
      stop.request_stop();
      QVERIFY(bench.work->stopped());
      bench.work->replay();
      bench.work->synchronize();
      // What was given before the stop is done where it is given at once.
      QCOMPARE(bench.values('q') == q, isNoted);
      QCOMPARE(bench.launches(), std::size_t{isNoted ? 0U : 1U});
      bench.work->begin({});
      bench.work->giveProduct(bench.product('x', 'b', 'q'));
      bench.work->synchronize();
      QVERIFY(bench.values('q') != q);
    }
  }

  /// The address sanitizer sees whether the memory is there still.
  void memoryThatGoesWasRead() {
    for (const bool isNoted : {false, true}) {
      EmulatedDevice card;
      cuda::DeviceWork work(card.device, patient());
      const auto x = card.upload(std::vector<Bf16>(16, roundedToBf16(1)));
      const auto out = card.upload(std::vector<Bf16>(16, roundedToBf16(0)));
      cuda::DeviceMemory weight(card.device, kElements * sizeof(Bf16), "a test");
      const std::vector<Bf16> values(kElements, roundedToBf16(2));
      card.stream.copyToDevice(weight.data(), values.data(), weight.bytes());
      card.stream.synchronize();
      if (isNoted) work.note();
      work.giveProduct({.rows = 1,
                        .depth = kWidth,
                        .x = x.data(),
                        .xStride = kWidth,
                        .count = 1,
                        .weights = {{.elements = weight.as<Bf16>(),
                                     .stride = kWidth,
                                     .columns = kWidth,
                                     .out = out.data(),
                                     .outStride = kWidth}}});
      work.keepForGood(std::move(weight));
      work.synchronize();
      QCOMPARE(toFloats(card.download(out)), std::vector<float>(16, 32.0F));
    }
  }
};

SPANSCOPE_TEST(tst_joined_products, TestCudaJoinedProducts)
#include "tst_joined_products.moc"
