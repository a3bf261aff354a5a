// SPDX-License-Identifier: GPL-3.0-or-later
// A pass that loses rows on its way is, from there on, the pass of the rows that are left.
#include "engine/base/error.h"
#include "engine/compute/narrowing.h"
#include "tests/kernels/each_device.h"
#include "tests/support/compare.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"

#include <QTest>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Up to three segments of kTokens tokens that stand in blocks 1, 2, …, and the last rows of each.
PassInputs randomInputs(Random& random) {
  PassInputs inputs;
  const auto runs = static_cast<std::int32_t>(random.between(1, 3));
  for (std::int32_t segment = 0; segment < runs; ++segment) {
    compute::KeyRange range{.blocks = {}, .begin = 0, .end = kTokens, .base = 100 * segment, .causal = true};
    for (std::int32_t block = 0; block < kTokens / kBlockSize; ++block)
      range.blocks.push_back(1 + segment * kTokens / kBlockSize + block);
    const auto rows = static_cast<std::int32_t>(random.between(1, kTokens));
    inputs.runs.push_back({static_cast<std::int64_t>(inputs.tokens.size()), rows, range.base, {range}});
    inputs.keptRows.push_back(segment + 1 == runs ? rows
                                                  : static_cast<std::int32_t>(random.between(1, rows)));
    for (std::int32_t local = kTokens - rows; local < kTokens; ++local) {
      inputs.tokens.push_back(static_cast<TokenId>(random.below(50)));
      inputs.localIndices.push_back(local);
      inputs.slots.push_back(kBlockSize + segment * kTokens + local);
    }
  }
  inputs.logitRows = {static_cast<std::int32_t>(inputs.tokens.size()) - 1};
  inputs.hiddenRows = {static_cast<std::int32_t>(inputs.runs.back().firstRow)};
  return inputs;
}

/// Scores of which some are equal.
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

/// What the rows that are left gather, after they have stored keys of their own: of a pass that is narrowed
/// on its way, or, without scores, of one that begins with them.
std::vector<float> attended(compute::Backend& backend, const Data& data, const PassInputs& inputs,
                            const std::vector<std::int32_t>& rows, const std::vector<float>* scores) {
  const auto store = filledStore(backend, data);
  const auto pass =
      backend.makePass(kShape, kRotary, kStore, scores != nullptr ? inputs : compute::narrowed(inputs, rows));
  const auto queries = backend.makeTensor();
  const auto keys = backend.makeTensor();
  const auto out = backend.makeTensor();
  if (scores != nullptr) {
    const auto all = backend.makeTensor();
    const auto column = backend.makeTensor();
    const auto count = static_cast<std::int64_t>(inputs.tokens.size());
    backend.upload(*scores, count, 1, *column);
    backend.narrow(*pass, *column);
    backend.upload(data.queries, count, kQueryWidth, *all);
    backend.gatherRows(*pass, RowList::Chosen, *all, *queries);
    backend.upload(data.newKeys, count, kKeyWidth, *all);
    backend.gatherRows(*pass, RowList::Chosen, *all, *keys);
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
    inputs.keptRows = {2, 1};
    const std::vector<float> scores{1, 3, 1, -5, 0, -0.0F, -1};
    QCOMPARE(compute::chooseRows(inputs, scores), (std::vector<std::int32_t>{0, 1, 4}));
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
      const std::vector<std::int32_t> rows = compute::chooseRows(inputs, scores);
      ReferenceBackend reference;
      const std::vector<float> actual = attended(*backend, data, inputs, rows, &scores);
      const Comparison comparison =
          compareAbsolute(actual, attended(reference, data, inputs, rows, &scores), tolerance);
      QVERIFY2(comparison.ok, comparison.text().c_str());
      if (info.rowsAreBitEqual) QCOMPARE(actual, attended(*backend, data, inputs, rows, nullptr));
    }
  }

  void refusesWhatCannotBeNarrowed_data() {
    QTest::addColumn<int>("what");
    for (int what = 0; what < 5; ++what) QTest::addRow("defect %d", what) << what;
  }
  void refusesWhatCannotBeNarrowed() {
    QFETCH(int, what);
    PassInputs inputs = plainRows(6);
    inputs.runs = {{0, 4, 0, {}}, {4, 2, 0, {}}};
    inputs.keptRows = {2, 2};
    inputs.logitRows = {5};
    compute::checkNarrowing(inputs);
    const std::function<void()> defects[] = {[&] { inputs.keptRows = {2}; }, [&] { inputs.keptRows[0] = 0; },
                                             [&] { inputs.keptRows[1] = 3; }, [&] { inputs.logitRows = {1}; },
                                             [&] { inputs.runs[1].firstRow = 5; }};
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

QTEST_APPLESS_MAIN(TestNarrowing)
#include "tst_narrowing.moc"
