// SPDX-License-Identifier: GPL-3.0-or-later
// Decode steps by graphs: what comes back is what the same steps give operation by operation, and a graph is
// recorded once and replayed as long as nothing moves.
#include "engine/base/error.h"
#include "kernels/cuda/backend/decode_step.h"
#include "kernels/cuda/backend/fixed_place.h"
#include "tests/kernels/cuda/step_model.h"
#include "tests/support/cuda_emulation/emulation.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;

namespace {

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float left, float right) {
    return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
  });
}

/// Everything that a step gives.
struct Given {
  std::vector<compute::SampledToken> tokens;
  std::vector<float> logits;
  std::vector<float> mass;

  explicit Given(const model::ForwardResult& result) : tokens(result.tokens), logits(result.logits) {
    for (const model::LayerMass& layer : result.mass) {
      for (const compute::RunMass& run : layer.runs) {
        mass.insert(mass.end(), run.mass.begin(), run.mass.end());
        mass.insert(mass.end(), run.first.begin(), run.first.end());
      }
    }
  }
  bool equals(const Given& other) const {
    return tokens == other.tokens && sameBits(logits, other.logits) && sameBits(mass, other.mass);
  }
};

/// Requests that come and go by chance, with what each step gave.
std::vector<Given> script(StepModel& model, std::uint64_t seed, int steps, std::int32_t mostBlocks) {
  Random random(seed);
  std::list<StepAnswer> answers;
  std::vector<Given> given;
  std::uint64_t number = 0;
  for (int i = 0; i < steps; ++i) {
    while (answers.empty() || (answers.size() < 11 && random.below(4) == 0)) {
      const auto question = static_cast<std::int32_t>(random.between(3, 9));
      const float temperature = random.below(2) == 0 ? 0.0F : 0.8F;
      answers.push_back(model.begin(++number, question, temperature));
    }
    std::vector<StepAnswer*> batch;
    for (StepAnswer& answer : answers) batch.push_back(&answer);
    given.emplace_back(model.step(
        batch,
        {.logitsWanted = random.below(4) == 0, .observed = random.below(3) == 0, .mostBlocks = mostBlocks}));
    if (random.below(5) == 0)
      answers.erase(std::next(answers.begin(), static_cast<std::ptrdiff_t>(random.below(answers.size()))));
  }
  return given;
}

}  // namespace

class TestDecodeGraphs : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void givesTheSameAsWithoutGraphs_data() { eachKindOfStep(); }
  void givesTheSameAsWithoutGraphs() {
    QFETCH(bool, exact);
    QFETCH(std::int32_t, mostBlocks);
    const std::uint64_t seed = testSeed(20251124);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    StepModel with(StepModel::patient(), exact);
    StepModel without(StepModel::withoutGraphs(), exact);
    constexpr int kSteps = 60;
    const std::vector<Given> actual = script(with, seed, kSteps, mostBlocks);
    const std::vector<Given> expected = script(without, seed, kSteps, mostBlocks);
    for (std::size_t i = 0; i < expected.size(); ++i)
      QVERIFY2(actual[i].equals(expected[i]), qPrintable(QString::number(i)));
    qInfo("%lld captures, %lld replays", static_cast<long long>(with.counts->captures),
          static_cast<long long>(with.counts->replays));
    QCOMPARE(with.counts->captures + with.counts->replays, std::int64_t{kSteps});
    QVERIFY(with.counts->replays > kSteps / 2);
    QCOMPARE(*without.counts, cuda::GraphCounts());
  }

  /// Block tables grow from step to step, and so does what is observed.
  void theSecondStepReplays_data() {
    QTest::addColumn<bool>("observed");
    QTest::addColumn<bool>("exact");
    QTest::addColumn<std::int32_t>("mostBlocks");
    QTest::newRow("tokens alone") << false << false << 0;
    QTest::newRow("observed") << true << false << 0;
    QTest::newRow("bit-equal") << false << true << 0;
    QTest::newRow("bit-equal, observed") << true << true << 0;
    QTest::newRow("few blocks") << false << false << 3;
    QTest::newRow("bit-equal, few blocks") << false << true << 3;
  }
  void theSecondStepReplays() {
    QFETCH(bool, observed);
    QFETCH(bool, exact);
    QFETCH(std::int32_t, mostBlocks);
    StepModel model(StepModel::patient(), exact);
    StepAnswer one = model.begin(1, 30);
    StepAnswer two = model.begin(2, 3);
    StepAnswer three = model.begin(3, 8);
    for (int i = 0; i < 12; ++i) {
      model.step({&one, &two, &three},
                 {.logitsWanted = false, .observed = observed, .mostBlocks = mostBlocks});
      // Blocks to choose from grow with the keys, by and by into a graph of its own; and the first step that
      // chooses has the pool keep bounds of keys, which makes it another one.
      QVERIFY(model.counts->captures <= (mostBlocks > 0 ? 3 : 1));
      QCOMPARE(model.counts->captures + model.counts->replays, std::int64_t{i + 1});
    }
    // So does what is observed.
    if (observed || mostBlocks > 0) return;
    // Of the same bucket.
    StepAnswer four = model.begin(4, 1);
    model.step({&one, &two, &three, &four});
    QCOMPARE(model.counts->replays, std::int64_t{12});
    // Of another one, and back again.
    model.step({&two});
    QCOMPARE(model.counts->captures, std::int64_t{2});
    model.step({&one, &three, &four});
    QCOMPARE(model.counts->captures, std::int64_t{2});
    QCOMPARE(model.counts->given, std::int64_t{2});
  }

  /// The neighbours of a row, another row or padding, change nothing where rows are bit-equal: also where
  /// some rows read all their blocks, others choose, and only some are observed.
  void rowsBesideChangeNothing_data() {
    QTest::addColumn<std::int32_t>("mostBlocks");
    QTest::addColumn<std::vector<std::size_t>>("observed");
    using Rows = std::vector<std::size_t>;
    for (const std::int32_t mostBlocks : {0, 6, 10}) {
      for (const Rows& observed : {Rows{}, Rows{1, 2}}) {
        QString rows;
        for (const std::size_t row : observed) rows += QStringLiteral(" %1").arg(row);
        QTest::addRow("%d blocks, observed%s", mostBlocks, qPrintable(rows)) << mostBlocks << observed;
      }
    }
  }
  void rowsBesideChangeNothing() {
    QFETCH(std::int32_t, mostBlocks);
    QFETCH(std::vector<std::size_t>, observed);
    // 4 blocks of the document, and 8, 1 and 5 of their own.
    const std::vector<std::int32_t> questions{30, 3, 17};
    StepModel beside(StepModel::patient(), true);
    std::vector<StepAnswer> answers;
    for (std::size_t i = 0; i < questions.size(); ++i) answers.push_back(beside.begin(i + 1, questions[i]));
    constexpr int kSteps = 3;
    std::vector<std::vector<float>> together;
    for (int step = 0; step < kSteps; ++step) {
      const model::ForwardResult result =
          beside.step({&answers[0], &answers[1], &answers[2]},
                      {.logitsWanted = true, .observedAnswers = observed, .mostBlocks = mostBlocks});
      together.push_back(result.logits);
    }
    for (std::size_t i = 0; i < questions.size(); ++i) {
      StepModel alone(StepModel::patient(), true);
      StepAnswer answer = alone.begin(i + 1, questions[i]);
      for (const std::vector<float>& logits : together) {
        const model::ForwardResult result =
            alone.step({&answer}, {.logitsWanted = true, .mostBlocks = mostBlocks});
        const std::size_t words = result.logits.size();
        const auto first = logits.begin() + static_cast<std::ptrdiff_t>(i * words);
        std::vector<float> own(words);
        std::copy_n(first, words, own.begin());
        QVERIFY2(sameBits(own, result.logits), qPrintable(QString::number(i)));
      }
    }
  }

  /// Observed rows go through other kernels too, which pad no further than a step has rows: the test watches
  /// the neighbouring memory.
  void observedRowsEndWithTheStep() {
    StepModel model(StepModel::patient(), true);
    // More than the document has, which was computed before.
    std::list<StepAnswer> answers;
    std::vector<StepAnswer*> batch;
    for (std::uint64_t number = 0; number < StepModel::kDocument + 1; ++number)
      batch.push_back(&answers.emplace_back(model.begin(number, 2)));
    const model::ForwardResult result = model.step(batch, {.observedAnswers = {batch.size() - 1}});
    QCOMPARE(result.tokens.size(), batch.size());
    QCOMPARE(result.mass.front().runs.size(), std::size_t{1});
  }

  /// Rows, items and mass that fill a step up hold numbers: what comes back has nothing that nobody wrote.
  void whatFillsUpIsWritten_data() { eachKindOfStep(); }
  void whatFillsUpIsWritten() {
    QFETCH(bool, exact);
    QFETCH(std::int32_t, mostBlocks);
    StepModel model(StepModel::patient(), exact);
    StepAnswer one = model.begin(1, 30);
    StepAnswer two = model.begin(2, 3);
    StepAnswer three = model.begin(3, 8);
    const std::size_t before = cuda::emulation::machineCounts().unwritten;
    for (int i = 0; i < 4; ++i)
      model.step({&one, &two, &three}, {.logitsWanted = true, .observed = true, .mostBlocks = mostBlocks});
    QCOMPARE(cuda::emulation::machineCounts().unwritten, before);
  }

  /// As many rows as the kernel of few rows takes.
  void productsOfTheSameRowsAreOneNote() {
    StepModel model(StepModel::patient());
    compute::Backend& backend = model.backend();
    const std::vector<float> values(24 * 16, 0.5F);
    std::vector<std::unique_ptr<compute::Weight>> weights;
    std::vector<std::unique_ptr<compute::Tensor>> outs;
    for (const std::int64_t columns : {24, 8, 8}) {
      weights.push_back(
          backend.prepare({std::as_bytes(std::span(values)).data(), compute::WeightFormat::F32, columns, 16},
                          compute::WeightUse::Matrix));
      outs.push_back(backend.makeTensor());
    }
    for (const int rows : {1, 7, 32, 33}) {
      compute::PassInputs inputs = plainRows(rows);
      for (std::int64_t row = 0; row < rows; ++row)
        inputs.runs.push_back({.firstRow = row, .rowCount = 1, .base = 0, .keys = {}});
      inputs.logitRows = {0};
      const auto x = backend.makeTensor();
      backend.upload(std::vector<float>(static_cast<std::size_t>(rows) * 16, 1.0F), rows, 16, *x);
      const auto pass = makePlainPass(backend, inputs);
      for (std::size_t i = 0; i < weights.size(); ++i)
        backend.matmul(*x, *weights[i], nullptr, false, *outs[i]);
      backend.finish(*pass);
      QCOMPARE(model.counts->notes, std::int64_t{rows <= 32 ? 1 : 3});
      std::vector<float> given(static_cast<std::size_t>(rows) * 24);
      backend.download(*outs.front(), given);
      QCOMPARE(given, std::vector<float>(given.size(), 8.0F));
    }
  }

  void logitsAreFetchedBesideTheGraph() {
    StepModel model(StepModel::patient());
    StepAnswer one = model.begin(1, 4);
    StepAnswer two = model.begin(2, 4);
    for (int i = 0; i < 6; ++i) {
      const auto result = model.step({&one, &two}, {.logitsWanted = i % 2 == 1});
      QCOMPARE(result.logits.size(), i % 2 == 1 ? std::size_t{2 * 96} : std::size_t{0});
    }
    QCOMPARE(model.counts->captures, std::int64_t{1});
    QCOMPARE(model.counts->replays, std::int64_t{5});
  }

  /// Tensors that grow for a long prompt, and another store, lie elsewhere.
  void whatMovesIsRecordedAnew() {
    StepModel model(StepModel::patient());
    StepModel plain(StepModel::withoutGraphs());
    const auto both = [&](StepAnswer& a, StepAnswer& b) {
      const Given actual(model.step({&a}, {.logitsWanted = true}));
      const Given expected(plain.step({&b}, {.logitsWanted = true}));
      QVERIFY(actual.equals(expected));
    };
    StepAnswer one = model.begin(1, 3);
    StepAnswer other = plain.begin(1, 3);
    both(one, other);
    both(one, other);
    QCOMPARE(model.counts->captures, std::int64_t{1});
    model.begin(9, 60);
    plain.begin(9, 60);
    both(one, other);
    QCOMPARE(model.counts->captures, std::int64_t{2});
    both(one, other);
    QCOMPARE(model.counts->captures, std::int64_t{2});
    model.takeStore();
    plain.takeStore();
    one = model.begin(2, 3);
    other = plain.begin(2, 3);
    both(one, other);
    QCOMPARE(model.counts->captures, std::int64_t{3});
    both(one, other);
    QCOMPARE(model.counts->captures, std::int64_t{3});
  }

  /// Those that were too small for the step live until it is done; the graph of the next one is another.
  void aStepMayGrowItsTensors() {
    StepModel model(StepModel::patient());
    StepModel plain(StepModel::withoutGraphs());
    std::list<StepAnswer> answers;
    std::list<StepAnswer> others;
    std::vector<StepAnswer*> batch;
    std::vector<StepAnswer*> otherBatch;
    for (std::uint64_t i = 0; i < 20; ++i) {
      batch.push_back(&answers.emplace_back(model.begin(i, 1)));
      otherBatch.push_back(&others.emplace_back(plain.begin(i, 1)));
    }
    for (int i = 0; i < 4; ++i)
      QVERIFY(Given(model.step(batch, {.logitsWanted = true}))
                  .equals(Given(plain.step(otherBatch, {.logitsWanted = true}))));
    QCOMPARE(model.counts->captures + model.counts->replays, std::int64_t{4});
    QVERIFY(model.counts->captures <= 2);
  }

  void aSlowGraphIsGivenPieceByPiece() {
    StepModel model({.mostMilliseconds = 0.0});
    StepModel plain(StepModel::withoutGraphs());
    StepAnswer one = model.begin(1, 4);
    StepAnswer other = plain.begin(1, 4);
    for (int i = 0; i < 5; ++i)
      QVERIFY(Given(model.step({&one}, {})).equals(Given(plain.step({&other}, {}))));
    QCOMPARE(model.counts->captures, std::int64_t{1});
    QCOMPARE(model.counts->replays, std::int64_t{1});
    QCOMPARE(model.counts->given, std::int64_t{4});
  }

  void theOldestGraphGivesWay() {
    cuda::DeviceWorkOptions options = StepModel::patient();
    options.mostGraphs = 2;
    StepModel model(options);
    StepModel plain(StepModel::withoutGraphs());
    std::list<StepAnswer> answers;
    std::list<StepAnswer> others;
    for (std::uint64_t i = 0; i < 5; ++i) {
      answers.push_back(model.begin(i, 3));
      others.push_back(plain.begin(i, 3));
    }
    for (const std::size_t count : {1, 2, 1, 4, 1, 2, 1, 4}) {
      std::vector<StepAnswer*> batch;
      std::vector<StepAnswer*> otherBatch;
      auto answer = answers.begin();
      auto other = others.begin();
      for (std::size_t i = 0; i < count; ++i) {
        batch.push_back(&*answer++);
        otherBatch.push_back(&*other++);
      }
      QVERIFY(Given(model.step(batch)).equals(Given(plain.step(otherBatch))));
    }
    QCOMPARE(model.counts->captures, std::int64_t{5});
    QCOMPARE(model.counts->replays, std::int64_t{3});
    QCOMPARE(model.counts->dropped, std::int64_t{3});
  }

  void aStopGivesNothing() {
    StepModel model(StepModel::patient());
    StepModel plain(StepModel::withoutGraphs());
    StepAnswer one = model.begin(1, 4);
    StepAnswer other = plain.begin(1, 4);
    const auto both = [&] {
      QVERIFY(Given(model.step({&one}, {.logitsWanted = true}))
                  .equals(Given(plain.step({&other}, {.logitsWanted = true}))));
    };
    both();
    std::stop_source stop;
    stop.request_stop();
    const cuda::GraphCounts before = *model.counts;
    QVERIFY(model.step({&one}, {.logitsWanted = true, .stop = stop.get_token()}).stopped);
    QCOMPARE(*model.counts, before);
    both();
    both();
    QCOMPARE(model.counts->captures, std::int64_t{1});
  }

  /// Between layers, and after the last of them.
  void aStopOnTheWayGivesNothing() {
    StepModel model(StepModel::patient());
    compute::Backend& backend = model.backend();
    compute::PassInputs inputs = plainRows(1);
    inputs.runs = {{.firstRow = 0, .rowCount = 1, .base = 0, .keys = {}}};
    inputs.logitRows = {0};
    const auto x = backend.makeTensor();
    const auto out = backend.makeTensor();
    backend.upload(std::vector<float>{1, 2}, 1, 2, *x);
    const cuda::GraphCounts before = *model.counts;
    for (const bool isPolled : {true, false}) {
      std::stop_source stop;
      backend.begin(stop.get_token());
      const auto pass = makePlainPass(backend, inputs);
      backend.gatherRows(*pass, compute::RowList::Wanted, *x, *out);
      QVERIFY(!backend.stopped());
      stop.request_stop();
      if (isPolled) QVERIFY(backend.stopped());
      QVERIFY(backend.finish(*pass).stopped);
      QCOMPARE(*model.counts, before);
    }
    backend.begin({});
    const auto pass = makePlainPass(backend, inputs);
    backend.gatherRows(*pass, compute::RowList::Wanted, *x, *out);
    backend.fetch(*pass, *out);
    QCOMPARE(backend.finish(*pass).fetched.front(), (std::vector<float>{1, 2}));
  }

  /// A pass whose results nobody reads leaves nothing in memory.
  void aPassThatFailsOnItsWayIsForgotten() {
    StepModel model(StepModel::patient());
    StepModel plain(StepModel::withoutGraphs());
    StepAnswer one = model.begin(1, 4);
    StepAnswer other = plain.begin(1, 4);
    const auto both = [&] {
      QVERIFY(Given(model.step({&one}, {.logitsWanted = true}))
                  .equals(Given(plain.step({&other}, {.logitsWanted = true}))));
    };
    both();
    {
      compute::Backend& backend = model.backend();
      compute::PassInputs inputs = plainRows(1);
      inputs.runs = {{.firstRow = 0, .rowCount = 1, .base = 0, .keys = {}}};
      inputs.logitRows = {0};
      inputs.draws = {{.logits = 0, .settings = {}, .index = 0}};
      const auto pass = makePlainPass(backend, inputs);
      const auto x = backend.makeTensor();
      x->resize(1, 8);
      backend.gatherRows(*pass, compute::RowList::Wanted, *x, *backend.makeTensor());
      QVERIFY_THROWS_EXCEPTION(Failure, backend.sample(*pass, *x));
    }
    both();
    both();
    QCOMPARE(model.counts->captures, std::int64_t{1});
    QCOMPARE(model.counts->replays, std::int64_t{2});
  }

  /// Two passes at once: the second one has memory of its own.
  void passesMayOverlap() {
    StepModel model(StepModel::patient());
    compute::Backend& backend = model.backend();
    const auto passOf = [&](std::int32_t local) {
      compute::PassInputs inputs = plainRows(2);
      inputs.localIndices = {local, local};
      inputs.runs = {{.firstRow = 0, .rowCount = 1, .base = 0, .keys = {}},
                     {.firstRow = 1, .rowCount = 1, .base = 0, .keys = {}}};
      inputs.logitRows = {1, 0};
      return makePlainPass(backend, inputs);
    };
    const auto x = backend.makeTensor();
    backend.upload(std::vector<float>{1, 2, 3, 4}, 2, 2, *x);
    const auto first = passOf(0);
    const auto one = backend.makeTensor();
    const auto two = backend.makeTensor();
    backend.gatherRows(*first, compute::RowList::Wanted, *x, *one);
    const auto second = passOf(1);
    backend.gatherRows(*second, compute::RowList::Wanted, *one, *two);
    backend.gatherRows(*first, compute::RowList::Wanted, *two, *one);
    backend.fetch(*first, *one);
    backend.fetch(*second, *two);
    QCOMPARE(backend.finish(*second).fetched.front(), (std::vector<float>{1, 2, 3, 4}));
    QCOMPARE(backend.finish(*first).fetched.front(), (std::vector<float>{3, 4, 1, 2}));
  }

  /// What was noted of a tensor uses the memory that it had; the address sanitizer sees whether it is there.
  void aTensorMayGrowWhileItIsNoted() {
    StepModel model(StepModel::patient());
    compute::Backend& backend = model.backend();
    compute::PassInputs inputs = plainRows(2);
    inputs.runs = {{.firstRow = 0, .rowCount = 1, .base = 0, .keys = {}},
                   {.firstRow = 1, .rowCount = 1, .base = 0, .keys = {}}};
    inputs.logitRows = {1, 0};
    const auto narrow = backend.makeTensor();
    const auto wide = backend.makeTensor();
    backend.upload(std::vector<float>{1, 2, 3, 4}, 2, 2, *narrow);
    backend.upload(std::vector<float>(2 * 4096, 5.0F), 2, 4096, *wide);
    const auto pass = makePlainPass(backend, inputs);
    const auto grown = backend.makeTensor();
    const auto last = backend.makeTensor();
    backend.gatherRows(*pass, compute::RowList::Wanted, *narrow, *grown);
    backend.gatherRows(*pass, compute::RowList::Wanted, *grown, *last);
    backend.gatherRows(*pass, compute::RowList::Wanted, *wide, *grown);
    {
      // Gone before the pass is done.
      const auto brief = backend.makeTensor();
      backend.gatherRows(*pass, compute::RowList::Wanted, *last, *brief);
      backend.gatherRows(*pass, compute::RowList::Wanted, *brief, *last);
    }
    backend.fetch(*pass, *last);
    QCOMPARE(backend.finish(*pass).fetched.front(), (std::vector<float>{1, 2, 3, 4}));
  }

  void bucketsAreFew() {
    QCOMPARE(cuda::paddedRows(1), 1);
    QCOMPARE(cuda::paddedRows(3), 4);
    QCOMPARE(cuda::paddedRows(9), 16);
    QCOMPARE(cuda::paddedRows(17), 24);
    QCOMPARE(cuda::paddedRows(65), 96);
    for (std::int32_t n = 1; n < 5000; ++n) {
      const std::int32_t items = cuda::paddedItems(n);
      QVERIFY(items >= n && items <= std::max(8, n + n / 4 + 1));
      QCOMPARE(cuda::paddedItems(items), items);
      QVERIFY(n > 256 || cuda::paddedRows(n) >= n);
      QCOMPARE(cuda::paddedElements(cuda::paddedElements(n)), cuda::paddedElements(n));
    }
  }

  void decodeStepsAreTold() {
    compute::PassInputs inputs = plainRows(3);
    for (std::int64_t row = 0; row < 3; ++row)
      inputs.runs.push_back({.firstRow = row, .rowCount = 1, .base = 0, .keys = {}});
    inputs.logitRows = {2, 0};
    inputs.draws = {{.logits = 0, .settings = {}, .index = 0}, {.logits = 1, .settings = {}, .index = 0}};
    QVERIFY(cuda::isDecodeStep(inputs));
    const auto isStill = [&](const auto& change) {
      compute::PassInputs other = inputs;
      change(other);
      return cuda::isDecodeStep(other);
    };
    QVERIFY(isStill([](compute::PassInputs& other) { other.draws.clear(); }));
    QVERIFY(isStill([](compute::PassInputs& other) { other.mass.runs = {1}; }));
    QVERIFY(isStill([](compute::PassInputs& other) { other.runs[1].mostBlocks = 3; }));
    QVERIFY(!isStill([](compute::PassInputs& other) { other.draws[0].logits = 1; }));
    QVERIFY(!isStill([](compute::PassInputs& other) { other.hiddenRows = {0}; }));
    QVERIFY(!isStill([](compute::PassInputs& other) { other.narrowings = {{{.runs = 3, .kept = 3}}}; }));
    QVERIFY(!isStill([](compute::PassInputs& other) {
      other.runs.pop_back();
      other.runs.back().rowCount = 2;
    }));
    QVERIFY(!isStill([](compute::PassInputs& other) { other = {}; }));
  }

  void sameSizesLieInTheSamePlaces() {
    const auto place = std::make_shared<cuda::FixedPlace>(cuda::Device::open(0));
    const std::vector<std::size_t> sizes{100, 0, 3000, 1U << 20U, 5};
    const auto taken = [&](const cuda::FixedLease& lease) {
      std::vector<std::byte*> places;
      for (const std::size_t size : sizes) places.push_back(lease.take(size));
      return places;
    };
    std::vector<std::byte*> first;
    {
      const cuda::FixedLease lease = place->lease();
      QVERIFY(static_cast<bool>(lease));
      QVERIFY(!static_cast<bool>(place->lease()));
      first = taken(lease);
      QCOMPARE(first[1], static_cast<std::byte*>(nullptr));
    }
    {
      // What needs more moves nothing.
      const cuda::FixedLease lease = place->lease();
      lease.take(std::size_t{1} << 22U);
      lease.take(std::size_t{1} << 19U);
    }
    QCOMPARE(taken(place->lease()), first);
  }

 private:
  static void eachKindOfStep() {
    QTest::addColumn<bool>("exact");
    QTest::addColumn<std::int32_t>("mostBlocks");
    for (const bool exact : {false, true}) {
      for (const std::int32_t mostBlocks : {0, 3})
        QTest::addRow("%s, %s", exact ? "bit-equal" : "default",
                      mostBlocks == 0 ? "all blocks" : "few blocks")
            << exact << mostBlocks;
    }
  }
};

SPANSCOPE_TEST(tst_decode_graphs, TestDecodeGraphs)
#include "tst_decode_graphs.moc"
