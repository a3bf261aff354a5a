// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/decode_attention.h"
#include "tests/kernels/cuda/attention_problem.h"
#include "tests/kernels/cuda/pairwise.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;
using cuda::DecodePlan;
using cuda::RowRun;

namespace {

struct DecodeResult {
  std::vector<Bf16> out;
  std::vector<float> mass;
  std::vector<float> first;
};

/// What computes the sums of an item.
enum class Cores { Ordinary, Tensor };

const char* nameOf(Cores cores) {
  return cores == Cores::Tensor ? "tensor cores" : "ordinary cores";
}

/// A plan with its arrays on the card.
class Decoder {
 public:
  Decoder(EmulatedDevice& card, const AttentionProblem& problem, Cores cores, int chunkKeys)
      : Decoder(card, problem, cores, chunkKeys, problem.frequencies()) {}
  Decoder(EmulatedDevice& card, const AttentionProblem& problem, Cores cores, int chunkKeys,
          const std::vector<double>& frequencies)
      : m_card(card),
        m_problem(problem),
        m_cores(cores),
        m_plan(cuda::planDecode(problem.runs(), problem.rows(), chunkKeys, problem.queryHeads(),
                                problem.shape().blockSize)),
        m_items(card.upload(m_plan.items)),
        m_rowItems(card.upload(m_plan.rowItems)),
        m_locals(card.upload(m_plan.locals)),
        m_blocks(card.upload(m_plan.blocks)),
        m_cosSin(card.upload(m_plan.rotations.table(frequencies, 1))),
        m_entries(card.upload(m_plan.masses)),
        m_queries(card.upload(problem.queries())),
        m_sums(card.empty<cuda::PartialSum>(itemHeads())),
        m_values(card.empty<float>(itemHeads() * static_cast<std::size_t>(problem.shape().headSize))),
        m_partialMass(card.empty<float>(itemHeads() * stretches())),
        m_partialFirst(card.empty<float>(stretches() > 0 ? itemHeads() : 0)),
        m_totals(
            card.empty<cuda::PartialSum>(static_cast<std::size_t>(problem.rows() * problem.queryHeads()))),
        m_out(card.empty<Bf16>(problem.queries().size())),
        m_mass(card.empty<float>(static_cast<std::size_t>(m_plan.massElements))),
        m_first(card.empty<float>(static_cast<std::size_t>(m_plan.firstElements))) {}

  const DecodePlan& plan() const { return m_plan; }
  DeviceArray<std::int32_t>& locals() { return m_locals; }

  DecodeResult run() {
    launch();
    return {m_card.download(m_out), m_card.download(m_mass), m_card.download(m_first)};
  }
  std::vector<Bf16> out() { return m_card.download(m_out); }

  /// Gives the work to the stream.
  void launch() {
    const auto itemCount = static_cast<int>(m_plan.items.size());
    cuda::attendDecode(m_card.stream, {.queries = m_queries.data(),
                                       .queryStride = m_problem.queryHeads() * m_problem.shape().headSize,
                                       .queryHeads = m_problem.queryHeads(),
                                       .scale = m_problem.scale(),
                                       .pool = m_problem.pool(),
                                       .layer = AttentionProblem::kLayer,
                                       .onTensorCores = m_cores == Cores::Tensor,
                                       .items = m_items.data(),
                                       .itemCount = itemCount,
                                       .rowItems = m_rowItems.data(),
                                       .locals = m_locals.data(),
                                       .blocks = m_blocks.data(),
                                       .cosSin = m_cosSin.data(),
                                       .rows = m_problem.rows(),
                                       .chunkKeys = m_plan.chunkKeys,
                                       .itemStretches = m_plan.itemStretches,
                                       .partialSums = m_sums.data(),
                                       .partialValues = m_values.data(),
                                       .partialMass = m_partialMass.data(),
                                       .partialFirst = m_partialFirst.data(),
                                       .out = m_out.data(),
                                       .totals = stretches() > 0 ? m_totals.data() : nullptr});
    cuda::sumMass(m_card.stream, {.entries = m_entries.data(),
                                  .entryCount = static_cast<int>(m_plan.masses.size()),
                                  .queryHeads = m_problem.queryHeads(),
                                  .items = m_items.data(),
                                  .rowItems = m_rowItems.data(),
                                  .locals = m_locals.data(),
                                  .itemStretches = m_plan.itemStretches,
                                  .partialSums = m_sums.data(),
                                  .partialMass = m_partialMass.data(),
                                  .partialFirst = m_partialFirst.data(),
                                  .totals = m_totals.data(),
                                  .mass = m_mass.data(),
                                  .first = m_first.data()});
  }

 private:
  std::size_t itemHeads() const {
    return m_plan.items.size() * static_cast<std::size_t>(m_problem.queryHeads());
  }
  std::size_t stretches() const { return static_cast<std::size_t>(m_plan.itemStretches); }

  EmulatedDevice& m_card;
  const AttentionProblem& m_problem;
  Cores m_cores;
  DecodePlan m_plan;
  DeviceArray<cuda::DecodeItem> m_items;
  DeviceArray<std::int32_t> m_rowItems;
  DeviceArray<std::int32_t> m_locals;
  DeviceArray<std::int32_t> m_blocks;
  DeviceArray<float> m_cosSin;
  DeviceArray<cuda::MassEntry> m_entries;
  DeviceArray<Bf16> m_queries;
  DeviceArray<cuda::PartialSum> m_sums;
  DeviceArray<float> m_values;
  DeviceArray<float> m_partialMass;
  DeviceArray<float> m_partialFirst;
  DeviceArray<cuda::PartialSum> m_totals;
  DeviceArray<Bf16> m_out;
  DeviceArray<float> m_mass;
  DeviceArray<float> m_first;
};

QString describe(const char* what, std::size_t i, double actual, double expected, double tolerance) {
  return QString("%1, element %2: %3, expected %4, off by %5, tolerance %6")
      .arg(what)
      .arg(i)
      .arg(actual)
      .arg(expected)
      .arg(std::abs(actual - expected))
      .arg(tolerance);
}

/// Empty if the result is right.
QString differs(const AttentionProblem& problem, Cores cores, const DecodePlan& plan,
                const DecodeResult& result, const ProblemResult& expected) {
  const bool isRounded = cores == Cores::Tensor;
  const double massRelative =
      expected.weightTolerance + (isRounded ? 2 * scoreToleranceOnTensorCores(problem, expected) : 0);
  const double relative = massRelative + (isRounded ? 0x1p-8 : 0);
  for (std::size_t i = 0; i < result.out.size(); ++i) {
    const auto actual = static_cast<double>(valueOf(result.out[i]));
    // Results are rounded to bf16 once.
    const double tolerance = expected.magnitude[i] * relative + std::abs(expected.out[i]) * 0x1p-8;
    if (!(std::abs(actual - expected.out[i]) <= tolerance))
      return describe("out", i, actual, expected.out[i], tolerance);
  }
  std::size_t entry = 0;
  for (std::size_t run = 0; run < problem.runs().size(); ++run) {
    if (problem.runs()[run].massSpan == RowRun::kNoMass) continue;
    const cuda::MassEntry& place = plan.masses[entry++];
    const double tolerance = massRelative * problem.runs()[run].rowCount;
    const auto check = [&](const char* what, const std::vector<float>& all, std::int64_t begin,
                           const std::vector<double>& right) -> QString {
      for (std::size_t i = 0; i < right.size(); ++i) {
        const auto actual = static_cast<double>(all[static_cast<std::size_t>(begin) + i]);
        if (!(std::abs(actual - right[i]) <= tolerance))
          return describe(what, i, actual, right[i], tolerance);
      }
      return {};
    };
    if (const QString text = check("mass", result.mass, place.firstMass, expected.mass[run]); !text.isEmpty())
      return text;
    if (const QString text = check("first", result.first, place.firstFirst, expected.first[run]);
        !text.isEmpty())
      return text;
  }
  return {};
}

bool sameBits(const std::vector<Bf16>& a, const std::vector<Bf16>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Bf16)) == 0;
}

}  // namespace

class TestCudaDecodeAttention : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  /// Tiles and chunks begin at local token 0, wherever the keys that are read begin: keys without weight may
  /// as well be left out.
  void keysWithoutWeightChangeNothing_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("chunkKeys");
    QTest::addColumn<bool>("isFloat");
    QTest::addColumn<Cores>("cores");
    for (const int count : {1, 15, 32, 37, 63, 64, 65, 150}) {
      for (const int chunk : {64, 256}) {
        QTest::addRow("%d keys, chunks of %d, f32", count, chunk)
            << count << chunk << true << Cores::Ordinary;
        for (const Cores cores : {Cores::Ordinary, Cores::Tensor})
          QTest::addRow("%d keys, chunks of %d, bf16 on %s", count, chunk, nameOf(cores))
              << count << chunk << false << cores;
      }
    }
  }
  void keysWithoutWeightChangeNothing() {
    QFETCH(int, count);
    QFETCH(int, chunkKeys);
    QFETCH(bool, isFloat);
    QFETCH(Cores, cores);
    EmulatedDevice card;
    Random random(m_seed + 9);
    AttentionProblem problem(card,
                             {.rows = 3,
                              .keys = 300,
                              .segments = 1,
                              .keyHeads = 1,
                              .group = 2,
                              .headSize = 80,
                              .isFloat = isFloat},
                             random);
    problem.runs().front().keys.clear();
    problem.ignoreKeys(count);
    const std::vector<double> still(40, 0.0);
    std::int32_t& begin = problem.runs().back().keys.back().begin;
    begin = 0;
    problem.runs().back().massSpan = 16;
    const DecodeResult all = Decoder(card, problem, cores, chunkKeys, still).run();
    begin = count;
    const DecodeResult some = Decoder(card, problem, cores, chunkKeys, still).run();
    QVERIFY(sameBits(some.out, all.out));
    // The mass is f32: results in bf16 hide most of what another order of summation changes.
    QCOMPARE(some.mass, all.mass);
  }

  void equalsReference_data() {
    QTest::addColumn<ProblemShape>("shape");
    QTest::addColumn<int>("chunkKeys");
    QTest::addColumn<int>("massSpan");
    QTest::addColumn<Cores>("cores");
    const std::vector<int> rows{1, 2, 5};
    const std::vector<int> keys{1, 63, 300, 1000, 5000};
    const std::vector<int> segments{1, 2, 5};
    const std::vector<int> sizes{16, 32, 64, 80, 96, 128, 256};
    const std::vector<int> groups{1, 2, 3, 4, 7, 8, 16};
    const std::vector<int> blockSizes{1, 5, 16, 128};
    const std::vector<int> chunks{64, 256};
    const std::vector<int> spans{RowRun::kNoMass, 1, 5, 16};
    const std::vector<int> windows{0, 0, 1, 9, 64, 100, 700};
    Random random(m_seed);
    for (const auto& choice :
         pairwiseSample({rows.size(), keys.size(), segments.size(), sizes.size(), groups.size(),
                         blockSizes.size(), chunks.size(), spans.size(), 4, windows.size()},
                        random)) {
      ProblemShape shape{.rows = rows[choice[0]],
                         .keys = keys[choice[1]],
                         .segments = segments[choice[2]],
                         .keyHeads = choice[1] < 3 ? 2 : 1,
                         .group = groups[choice[4]],
                         .headSize = sizes[choice[3]],
                         .blockSize = blockSizes[choice[5]],
                         .isFloat = choice[8] == 1,
                         .window = windows[choice[9]]};
      const Cores cores = choice[8] >= 2 ? Cores::Tensor : Cores::Ordinary;
      // The emulation does some ten million products a second.
      if (shape.keys >= 1000 && shape.group * shape.headSize > 512) shape.rows = 1;
      const int chunk = chunks[choice[6]];
      QTest::addRow("%s, %s, chunks of %d, mass by %d", shape.text().c_str(), nameOf(cores), chunk,
                    spans[choice[7]])
          << shape << chunk << spans[choice[7]] << cores;
    }
  }
  void equalsReference() {
    QFETCH(ProblemShape, shape);
    QFETCH(int, chunkKeys);
    QFETCH(int, massSpan);
    QFETCH(Cores, cores);
    EmulatedDevice card;
    Random random(m_seed);
    AttentionProblem problem(card, shape, random);
    problem.runs().back().massSpan = massSpan;
    const ProblemResult expected = problem.reference();
    Decoder decoder(card, problem, cores, chunkKeys);
    std::vector<Bf16> before;
    const bool isSmall = std::int64_t{shape.rows} * shape.keys * shape.group * shape.headSize < 400000;
    inEveryOrder(card, [&](const char* order) {
      if (!isSmall && std::strcmp(order, "descending") != 0) return;
      const DecodeResult result = decoder.run();
      const QString difference = differs(problem, cores, decoder.plan(), result, expected);
      QVERIFY2(difference.isEmpty(), qPrintable(QString(order) + ": " + difference));
      QVERIFY(before.empty() || sameBits(before, result.out));
      before = result.out;
    });
  }

  void keysAtTheEdgesCount_data() { eachKindOfCores(); }
  void keysAtTheEdgesCount() {
    QFETCH(Cores, cores);
    // The last key belongs to the last row alone; the one before the first belongs to nobody.
    for (const int keys : {32, 33, 63, 64, 65, 130}) {
      for (const bool marksLast : {true, false}) {
        EmulatedDevice card;
        Random random(m_seed + 6);
        AttentionProblem problem(
            card, {.rows = 3, .keys = keys, .segments = 1, .keyHeads = 1, .group = 2, .headSize = 32},
            random);
        problem.runs().back().keys.back().begin = keys / 2;
        problem.markKey(marksLast ? keys - 1 : keys / 2 - 1);
        Decoder decoder(card, problem, cores, 64);
        const QString difference =
            differs(problem, cores, decoder.plan(), decoder.run(), problem.reference());
        QVERIFY2(difference.isEmpty(), qPrintable(QString("%1 keys: %2").arg(keys).arg(difference)));
      }
    }
  }

  void dependsOnTheRowAlone_data() {
    QTest::addColumn<Cores>("cores");
    QTest::addColumn<int>("window");
    for (const Cores cores : {Cores::Ordinary, Cores::Tensor}) {
      for (const int window : {0, 5, 90})
        QTest::addRow("%s, window %d", nameOf(cores), window) << cores << window;
    }
  }
  void dependsOnTheRowAlone() {
    QFETCH(Cores, cores);
    QFETCH(int, window);
    // Row by row, with other rows beside them, and wherever the blocks lie.
    EmulatedDevice card;
    Random random(m_seed + 1);
    AttentionProblem problem(card, {.rows = 6, .keys = 200, .segments = 3, .window = window}, random);
    const std::vector<Bf16> together = Decoder(card, problem, cores, 64).run().out;
    const RowRun all = problem.runs().back();
    problem.runs().pop_back();
    for (std::int32_t i = 0; i < all.rowCount; ++i) {
      RowRun one = all;
      one.firstRow += i;
      one.firstLocal += i;
      one.rowCount = 1;
      problem.runs().push_back(one);
    }
    QVERIFY(sameBits(Decoder(card, problem, cores, 64).run().out, together));
    for (RowRun& run : problem.runs()) {  // another base for everything
      run.base += 77777;
      for (cuda::SegmentKeys& keys : run.keys) keys.base += 77777;
    }
    QVERIFY(sameBits(Decoder(card, problem, cores, 64).run().out, together));
  }

  void rowsMoveOnWithoutAPlan_data() { eachKindOfCores(); }
  void rowsMoveOnWithoutAPlan() {
    QFETCH(Cores, cores);
    // A plan with room to grow, recorded once and replayed, gives what a plan for the row's new place gives.
    EmulatedDevice card;
    Random random(m_seed + 2);
    AttentionProblem problem(card, {.rows = 1, .keys = 130, .segments = 2}, random);
    RowRun& run = problem.runs().back();
    run.firstLocal -= 70;
    run.growth = 70;
    Decoder growing(card, problem, cores, 64);
    const cuda::Graph graph = card.stream.capture([&] { growing.launch(); });
    std::vector<std::int32_t> locals = growing.plan().locals;
    for (const std::int32_t step : {0, 1, 30, 39}) {
      locals[1] += step;
      card.stream.copyToDevice(growing.locals().data(), locals.data(), locals.size() * sizeof(std::int32_t));
      run.firstLocal = locals[1];
      run.growth = 0;
      card.stream.replay(graph);
      QVERIFY(sameBits(growing.out(), Decoder(card, problem, cores, 64).run().out));
      const ProblemResult expected = problem.reference();
      const QString difference = differs(problem, cores, growing.plan(), growing.run(), expected);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }

  void rowsWithoutKeysGiveZero_data() { eachKindOfCores(); }
  void rowsWithoutKeysGiveZero() {
    QFETCH(Cores, cores);
    EmulatedDevice card;
    Random random(m_seed + 3);
    AttentionProblem problem(card, {.rows = 1, .keys = 20, .segments = 1}, random);
    problem.runs().front().keys.clear();
    const std::vector<Bf16> out = Decoder(card, problem, cores, 64).run().out;
    for (std::size_t i = 0; i < out.size() / 2; ++i) QCOMPARE(out[i].bits, std::uint16_t{0});
    problem.runs().pop_back();  // the row belongs to no run
    for (const Bf16 value : Decoder(card, problem, cores, 64).run().out)
      QCOMPARE(value.bits, std::uint16_t{0});
  }

  void paddingIsLeftOut_data() { eachKindOfCores(); }
  void paddingIsLeftOut() {
    QFETCH(Cores, cores);
    EmulatedDevice card;
    Random random(m_seed + 4);
    AttentionProblem problem(card, {.rows = 1, .keys = 20, .segments = 1}, random);
    const cuda::DecodeItem padding;
    const auto items = card.upload(std::vector{padding, padding});
    cuda::attendDecode(card.stream, {.queryHeads = problem.queryHeads(),
                                     .pool = problem.pool(),
                                     .onTensorCores = cores == Cores::Tensor,
                                     .items = items.data(),
                                     .itemCount = 2,
                                     .rows = 0,
                                     .chunkKeys = 64});
    card.stream.synchronize();  // reads and writes nothing
  }

  void distantSegmentsKeepTheirPrecision_data() { eachKindOfCores(); }
  void distantSegmentsKeepTheirPrecision() {
    QFETCH(Cores, cores);
    EmulatedDevice card;
    Random random(m_seed + 5);
    AttentionProblem problem(card, {.rows = 4, .keys = 100, .segments = 3}, random);
    problem.runs().back().keys[0].base = -500000;
    problem.runs().back().keys[1].base = 700000;
    Decoder decoder(card, problem, cores, 64);
    QVERIFY(decoder.plan().rotations.rows() < 20);
    const QString difference = differs(problem, cores, decoder.plan(), decoder.run(), problem.reference());
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  void shapesThatItDoesNotHaveAreFailures() {
    EmulatedDevice card;
    cuda::DecodeAttentionArguments arguments{.queryHeads = 34, .pool = {.heads = 2, .headSize = 64}};
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendDecode(card.stream, arguments));
    arguments.queryHeads = 3;
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendDecode(card.stream, arguments));
    arguments.queryHeads = 4;
    arguments.pool.headSize = 72;
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendDecode(card.stream, arguments));
    arguments.onTensorCores = true;
    arguments.chunkKeys = 64;
    arguments.pool.headSize = 48;
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendDecode(card.stream, arguments));
    arguments.pool.headSize = 64;
    arguments.pool.isFloat = true;
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendDecode(card.stream, arguments));
    arguments.pool.isFloat = false;
    arguments.chunkKeys = 60;
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendDecode(card.stream, arguments));
  }

 private:
  static void eachKindOfCores() {
    QTest::addColumn<Cores>("cores");
    for (const Cores cores : {Cores::Ordinary, Cores::Tensor}) QTest::newRow(nameOf(cores)) << cores;
  }

  std::uint64_t m_seed = testSeed(20251126);
};

SPANSCOPE_TEST(tst_decode_attention, TestCudaDecodeAttention)
#include "tst_decode_attention.moc"
