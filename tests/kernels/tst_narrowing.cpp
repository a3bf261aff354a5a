// SPDX-License-Identifier: GPL-3.0-or-later
// A pass that loses rows on its way is, from there on, the pass of the rows that are left.
#include "engine/base/error.h"
#include "engine/compute/pass.h"
#include "tests/kernels/each_device.h"
#include "tests/support/compare.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using compute::PassInputs;
using compute::RowList;

namespace {

constexpr std::int32_t kHeadSize = 16;
constexpr std::int64_t kQueryWidth = 4 * kHeadSize;
constexpr std::int64_t kKeyWidth = 2 * kHeadSize;
constexpr std::int32_t kBlockSize = 4;
constexpr std::int32_t kTokens = 24;  ///< of each segment
const compute::AttentionShape kShape{4, 2, kHeadSize, 0.35F};
const compute::RotaryTable kRotary{{1.0, 0.5, 0.3, 0.2, 0.1, 0.03, 0.01, 0.001}, 1.0F};
const compute::KvShape kStore{1, 1 + 3 * kTokens / kBlockSize, kBlockSize, 2, kHeadSize, DType::F32};

/// Up to three segments of kTokens tokens that are in blocks 1, 2, …, and the last rows of each.
PassInputs randomInputs(Random& random) {
  PassInputs inputs;
  const auto runs = static_cast<std::int32_t>(random.between(1, 3));
  for (std::int32_t segment = 0; segment < runs; ++segment) {
    compute::KeyRange range{.blocks = {}, .begin = 0, .end = kTokens, .base = 100 * segment, .causal = true};
    for (std::int32_t block = 0; block < kTokens / kBlockSize; ++block)
      range.blocks.push_back(1 + segment * kTokens / kBlockSize + block);
    const auto rows = static_cast<std::int32_t>(random.between(1, kTokens));
    inputs.runs.push_back({static_cast<std::int64_t>(inputs.tokens.size()), rows, range.base, {range}});
    for (std::int32_t local = kTokens - rows; local < kTokens; ++local) {
      inputs.tokens.push_back(static_cast<TokenId>(random.below(50)));
      inputs.localIndices.push_back(local);
      inputs.slots.push_back(kBlockSize + segment * kTokens + local);
    }
  }
  inputs.logitRows = {static_cast<std::int32_t>(inputs.tokens.size()) - 1};
  inputs.hiddenRows = {static_cast<std::int32_t>(inputs.runs.back().firstRow)};
  // All runs but the last lose rows, together or separately, in one step or two.
  const auto last = static_cast<std::int32_t>(inputs.runs.back().rowCount);
  const bool isTogether = random.below(2) == 0;
  std::vector<compute::RowGroup> groups;
  std::int32_t together = 0;
  for (std::size_t run = 0; run + 1 < inputs.runs.size(); ++run) {
    together += inputs.runs[run].rowCount;
    if (!isTogether) groups.push_back({.runs = 1, .kept = inputs.runs[run].rowCount});
  }
  if (isTogether && together > 0)
    groups.push_back({.runs = static_cast<std::uint32_t>(inputs.runs.size() - 1), .kept = together});
  for (std::uint64_t steps = 1 + random.below(2); steps > 0; --steps) {
    for (compute::RowGroup& group : groups)
      group.kept = static_cast<std::int32_t>(random.between(0, group.kept));
    std::vector<compute::RowGroup>& narrowing = inputs.narrowings.emplace_back(groups);
    narrowing.push_back({.runs = 1, .kept = last});
  }
  return inputs;
}

/// Scores. Some of them are equal.
std::vector<float> randomScores(Random& random, std::size_t count) {
  std::vector<float> scores(count);
  for (float& score : scores) score = static_cast<float>(random.between(-3, 3)) * 0.5F;
  return scores;
}

struct Data {
  std::vector<float> keys, values;  ///< of all tokens of all segments
  std::vector<float> queries;       ///< of the rows
  std::vector<float> newKeys;       ///< of the rows

  Data(Random& random, std::size_t rows)
      : keys(randomValues(random, std::size_t{3} * kTokens * kKeyWidth)),
        values(randomValues(random, keys.size())),
        queries(randomValues(random, rows * kQueryWidth)),
        newKeys(randomValues(random, rows * kKeyWidth)) {}
};

std::vector<float> rowsOf(const std::vector<float>& all, const std::vector<std::int32_t>& rows,
                          std::int64_t width) {
  std::vector<float> some;
  for (const std::int32_t row : rows) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * width);
    some.insert(some.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return some;
}

std::unique_ptr<compute::KvStore> filledStore(compute::Backend& backend, const Data& data) {
  auto store = backend.makeKvStore(kStore);
  const auto keys = backend.makeTensor();
  const auto values = backend.makeTensor();
  backend.upload(data.keys, std::int64_t{3} * kTokens, kKeyWidth, *keys);
  backend.upload(data.values, std::int64_t{3} * kTokens, kKeyWidth, *values);
  std::vector<std::int32_t> locals;
  std::vector<std::int64_t> slots;
  for (std::int32_t token = 0; token < 3 * kTokens; ++token) {
    locals.push_back(token % kTokens);
    slots.push_back(kBlockSize + token);
  }
  storeTokens(backend, kRotary, *keys, *values, locals, slots, 0, *store);
  return store;
}

/// What is left of a pass, whose rows have these scores.
struct Left {
  PassInputs inputs;
  std::vector<std::int32_t> rows;

  Left(const PassInputs& all, const std::vector<float>& scores) : inputs(all) {
    compute::Narrowing narrowing(all);
    while (!narrowing.inputs().narrowings.empty()) {
      std::vector<float> own;
      for (const std::int32_t row : narrowing.kept()) own.push_back(scores[static_cast<std::size_t>(row)]);
      narrowing.step(own);
    }
    inputs = narrowing.inputs();
    rows = narrowing.kept();
  }
};

/// What the rows that are left gather, after they have stored keys of their own: of a pass that is narrowed
/// on its way, or, without scores, of one that begins with them.
std::vector<float> attended(compute::Backend& backend, const Data& data, const PassInputs& inputs,
                            const Left& left, const std::vector<float>* scores) {
  const auto store = filledStore(backend, data);
  const auto pass = backend.makePass(kShape, kRotary, kStore, scores != nullptr ? inputs : left.inputs);
  const std::vector<std::int32_t>& rows = left.rows;
  const auto queries = backend.makeTensor();
  const auto keys = backend.makeTensor();
  const auto out = backend.makeTensor();
  if (scores != nullptr) {
    const auto column = backend.makeTensor();
    const auto before = backend.makeTensor();
    const auto count = static_cast<std::int64_t>(inputs.tokens.size());
    backend.upload(*scores, count, 1, *column);
    backend.upload(data.queries, count, kQueryWidth, *queries);
    backend.upload(data.newKeys, count, kKeyWidth, *keys);
    for (std::size_t step = 0; step < inputs.narrowings.size(); ++step) {
      backend.narrow(*pass, *column);
      for (const auto& [rowsOfAll, width] :
           {std::pair(queries.get(), kQueryWidth), std::pair(keys.get(), kKeyWidth),
            std::pair(column.get(), std::int64_t{1})}) {
        backend.gatherRows(*pass, RowList::Chosen, *rowsOfAll, *before);
        std::vector<float> chosen(static_cast<std::size_t>(before->rows() * width));
        backend.download(*before, chosen);
        backend.upload(chosen, before->rows(), width, *rowsOfAll);
      }
    }
  } else {
    const auto count = static_cast<std::int64_t>(rows.size());
    backend.upload(rowsOf(data.queries, rows, kQueryWidth), count, kQueryWidth, *queries);
    backend.upload(rowsOf(data.newKeys, rows, kKeyWidth), count, kKeyWidth, *keys);
  }
  backend.storeKeysValues(*pass, *keys, *keys, 0, *store);
  backend.attend(*pass, *queries, *store, 0, false, *out);
  backend.fetch(*pass, *out);
  const auto wanted = backend.makeTensor();
  backend.gatherRows(*pass, RowList::Wanted, *out, *wanted);
  backend.fetch(*pass, *wanted);
  compute::PassResults results = backend.finish(*pass);
  if (scores != nullptr && results.keptRows != rows) return {};
  std::vector<float> all = std::move(results.fetched[0]);
  all.insert(all.end(), results.fetched[1].begin(), results.fetched[1].end());
  return all;
}

}  // namespace

class TestNarrowing : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20251123);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void choosesByScoreThenByPlace() {
    PassInputs inputs = plainRows(7);
    inputs.runs = {{0, 4, 0, {}}, {4, 3, 0, {}}};
    inputs.narrowings = {{{.runs = 1, .kept = 2}, {.runs = 1, .kept = 1}}};
    const std::vector<float> scores{1, 3, 1, -5, 0, -0.0F, -1};
    QCOMPARE(compute::chooseRows(inputs, scores), (std::vector<std::int32_t>{0, 1, 4}));
    inputs.narrowings = {{{.runs = 2, .kept = 3}}};
    QCOMPARE(compute::chooseRows(inputs, scores), (std::vector<std::int32_t>{0, 1, 2}));
    const std::vector<float> broken{1, std::numeric_limits<float>::quiet_NaN(), 1, 5, 0, 9, -1};
    QCOMPARE(compute::chooseRows(inputs, broken), (std::vector<std::int32_t>{1, 3, 5}));
  }

  void runsWithoutRowsAreGone() {
    PassInputs inputs = plainRows(6);
    inputs.runs = {{0, 2, 10, {}}, {2, 2, 20, {}}, {4, 2, 30, {}}};
    inputs.narrowings = {{{.runs = 2, .kept = 2}, {.runs = 1, .kept = 2}},
                         {{.runs = 2, .kept = 0}, {.runs = 1, .kept = 2}}};
    inputs.logitRows = {5};
    inputs.mass.runs = {2};
    compute::Narrowing narrowing(inputs);
    QCOMPARE(narrowing.step(std::vector<float>{0, 0, 3, 2, 0, 0}), (std::vector<std::int32_t>{2, 3, 4, 5}));
    QCOMPARE(narrowing.inputs().runs.size(), std::size_t{2});
    QCOMPARE(narrowing.inputs().runs[0].base, std::int64_t{20});
    QCOMPARE(narrowing.inputs().mass.runs, (std::vector<std::uint32_t>{1}));
    QCOMPARE(narrowing.inputs().logitRows, (std::vector<std::int32_t>{3}));
    QCOMPARE(narrowing.step(std::vector<float>{9, 9, 0, 0}), (std::vector<std::int32_t>{2, 3}));
    QCOMPARE(narrowing.kept(), (std::vector<std::int32_t>{4, 5}));
    QCOMPARE(narrowing.inputs().mass.runs, (std::vector<std::uint32_t>{0}));
    QVERIFY_EXCEPTION_THROWN(narrowing.step(std::vector<float>{1, 2}), Failure);
  }

  void isThePassOfTheRowsThatAreLeft_data() { addDevices(); }
  void isThePassOfTheRowsThatAreLeft() {
    const DeviceInUse device;
    const auto backend = device.make();
    const compute::DeviceInfo info = backend->info();
    // Scores below 64, weights of rows that sum to 1, values below 8.
    const double unit = activationUnit(*backend);
    // Sums in f32; what tensors of less round are single products of them.
    const double tolerance = unit == 0x1p-24 ? 64 * 8 * unit : 64 * unit;
    for (int i = 0; i < device.rounds(40); ++i) {
      Random random(m_seed + static_cast<std::uint64_t>(i));
      const PassInputs inputs = randomInputs(random);
      const Data data(random, inputs.tokens.size());
      const std::vector<float> scores = randomScores(random, inputs.tokens.size());
      const Left left(inputs, scores);
      ReferenceBackend reference;
      const std::vector<float> actual = attended(*backend, data, inputs, left, &scores);
      const std::vector<float> expected = attended(reference, data, inputs, left, &scores);
      QVERIFY2(!actual.empty() && !expected.empty(), "other rows were kept");
      const Comparison comparison = compareAbsolute(actual, expected, tolerance);
      QVERIFY2(comparison.ok, comparison.text().c_str());
      if (info.rowsAreBitEqual) QCOMPARE(actual, attended(*backend, data, inputs, left, nullptr));
    }
  }

  void refusesWhatCannotBeNarrowed_data() {
    QTest::addColumn<int>("what");
    for (int what = 0; what < 10; ++what) QTest::addRow("defect %d", what) << what;
  }
  void refusesWhatCannotBeNarrowed() {
    QFETCH(int, what);
    PassInputs inputs = plainRows(6);
    inputs.runs = {{0, 4, 0, {}}, {4, 2, 0, {}}};
    inputs.narrowings = {{{.runs = 1, .kept = 3}, {.runs = 1, .kept = 2}},
                         {{.runs = 1, .kept = 2}, {.runs = 1, .kept = 2}}};
    inputs.logitRows = {5};
    inputs.mass.runs = {1};
    compute::checkNarrowing(inputs);
    std::vector<compute::RowGroup>& first = inputs.narrowings[0];
    std::vector<compute::RowGroup>& second = inputs.narrowings[1];
    const std::function<void()> defects[] = {[&] { first.pop_back(); },
                                             [&] { first[0].kept = -1; },
                                             [&] { first[0].kept = 5; },
                                             [&] { inputs.logitRows = {1}; },
                                             [&] { inputs.runs[1].firstRow = 5; },
                                             [&] { second[0].kept = 4; },
                                             [&] { inputs.mass.runs = {0}; },
                                             [&] { first[0].runs = 0; },
                                             [&] { first = second = {{2, 2}}; },
                                             [&] { first[1].runs = 2; }};
    defects[what]();
    QVERIFY_EXCEPTION_THROWN(compute::checkNarrowing(inputs), Failure);
    for (const std::string& device : test::presentDevices()) {
      const auto backend = test::makeBackend(device, 1);
      QVERIFY_EXCEPTION_THROWN(makePlainPass(*backend, inputs), Failure);
    }
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_narrowing, TestNarrowing)
#include "tst_narrowing.moc"
