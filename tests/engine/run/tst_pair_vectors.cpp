// SPDX-License-Identifier: GPL-3.0-or-later
// The vectors of a pair of tokens: their scores are those that the pass itself computed with.
#include "engine/base/error.h"
#include "engine/model/weight_reader.h"
#include "engine/run/pair_vectors.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <string>
#include <vector>

using namespace spanscope;
using run::PairRequest;
using run::PairVectors;

namespace {

/// Two documents and a question, which sees both.
layout::SpanTable tableOf(std::int64_t firstBase = 0) {
  layout::SpanTable table;
  const auto add = [&](std::vector<TokenId> tokens, std::int64_t base, std::uint32_t scope,
                       std::vector<std::uint32_t> sees) {
    layout::Segment segment;
    segment.independent = scope != 0;
    segment.scope = scope;
    segment.tokens = std::move(tokens);
    segment.base = base;
    segment.sees = std::move(sees);
    table.segments.push_back(std::move(segment));
  };
  add({3, 4, 5, 6, 7}, firstBase, 1, {});
  add({8, 9, 10}, firstBase + 5, 2, {});
  add({11, 12, 13}, firstBase + 8, 0, {0, 1});
  return table;
}

/// The learned score of a head that has no key.
double sinkOf(const model::WeightSource& weights, const model::ModelConfig& config, std::int32_t layer,
              std::int32_t head) {
  const compute::HostMatrix sinks =
      weights.get("model.layers." + std::to_string(layer) + "." + model::kSinks, 1, config.heads);
  std::vector<float> values(static_cast<std::size_t>(config.heads));
  compute::widen(sinks.format, sinks.data, config.heads, values.data());
  return static_cast<double>(values[static_cast<std::size_t>(head)]);
}

}  // namespace

class TestPairVectors : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The softmax of the scores of all keys that a row sees is the attention that the pass gives.
  void scoresGiveTheWeights_data() {
    QTest::addColumn<model::ModelConfig>("config");
    QTest::newRow("usual") << test::tinyConfig();
    for (const test::NamedConfig& family : test::familyConfigs()) QTest::newRow(family.name) << family.config;
  }
  void scoresGiveTheWeights() {
    QFETCH(model::ModelConfig, config);
    test::TinySession model(1, {}, config);
    const layout::SpanTable table = tableOf();
    const trace::TokenPlace row{2, 1};
    const std::int64_t position = table.segments[2].base + row.local;
    std::vector<trace::TokenPlace> keys;
    for (std::uint32_t s = 0; s < 2; ++s) {
      for (std::int32_t j = 0; j < table.segments[s].length(); ++j) keys.push_back({s, j});
    }
    keys.push_back({2, 0});
    keys.push_back({2, 1});
    std::vector<PairVectors> found;
    for (const trace::TokenPlace& key : keys)
      found.push_back(run::pairVectors(*model.decoder, *model.backend, {table, row, key}));
    QCOMPARE(found.front().layers.size(), static_cast<std::size_t>(config.layers));
    for (std::int32_t layer = 0; layer < config.layers; ++layer) {
      const compute::AttentionShape& shape = found.front().layers[static_cast<std::size_t>(layer)].shape;
      for (std::int32_t head = 0; head < shape.queryHeads; ++head) {
        std::vector<double> scores;
        double sum = config.attentionSinks ? std::exp(sinkOf(*model.weights, config, layer, head)) : 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const std::int64_t base = table.segments[keys[i].segment].base;
          const bool isOutside = shape.window > 0 && position - base - keys[i].local >= shape.window;
          double score = run::scoreOf(run::rotatedPairs(
              found[i].query(layer, head), found[i].key(layer, head),
              found[i].layers[static_cast<std::size_t>(layer)], position - base, keys[i].local));
          score *= double(shape.positionScale.at(position));
          const auto cap = double(shape.softCap);
          if (cap > 0) score = cap * std::tanh(score / cap);
          scores.push_back(isOutside ? 0 : std::exp(score));
          sum += scores.back();
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
          // The pass has scores in f32, and exp turns their error into the same relative error.
          const double difference = std::abs(double(found[i].weight(layer, head)) - scores[i] / sum);
          QVERIFY2(difference < 2e-5, qPrintable(QStringLiteral("layer %1, head %2, key %3: off by %4")
                                                     .arg(layer)
                                                     .arg(head)
                                                     .arg(i)
                                                     .arg(difference)));
        }
      }
    }
  }

  /// A pair within a document has the same vectors and scores at any place of the document.
  void aBaseChangesNothing() {
    const PairVectors here = of({tableOf(0), {0, 4}, {0, 1}});
    const PairVectors there = of({tableOf(40), {0, 4}, {0, 1}});
    QCOMPARE(here.queries, there.queries);
    QCOMPARE(here.keys, there.keys);
    const auto score = [](const PairVectors& pair, std::int64_t query, std::int64_t key) {
      return run::scoreOf(run::rotatedPairs(pair.query(1, 0), pair.key(1, 0), pair.layers[1], query, key));
    };
    const double stored = score(here, 4, 1);
    QVERIFY(std::abs(score(here, 44, 41) - stored) < 1e-9);
    QVERIFY(std::abs(score(here, 3, 0) - stored) < 1e-9);
    QVERIFY(std::abs(score(here, 5, 1) - stored) > 1e-6);
  }

  /// A row alone sees itself only, wherever else its pass would have begun.
  void aRowMayBeItsOwnKey() {
    const PairVectors first = of({tableOf(), {1, 0}, {1, 0}});
    QCOMPARE(first.weight(0, 0), 1.0F);
  }

  void refusals() {
    QVERIFY_EXCEPTION_THROWN(of({tableOf(), {1, 0}, {0, 0}}), Failure);
    QVERIFY_EXCEPTION_THROWN(of({tableOf(), {0, 1}, {0, 2}}), Failure);
    QVERIFY_EXCEPTION_THROWN(of({tableOf(), {2, 3}, {0, 0}}), Failure);
    QVERIFY_EXCEPTION_THROWN(of({tableOf(), {2, 0}, {7, 0}}), Failure);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(of({tableOf(), {2, 0}, {0, 0}}, stop.get_token()), Failure);
  }

 private:
  PairVectors of(const PairRequest& request, const std::stop_token& stop = {}) {
    return run::pairVectors(*m_model.decoder, *m_model.backend, request, stop);
  }

  test::TinySession m_model{1, {}};
};

SPANSCOPE_TEST(tst_pair_vectors, TestPairVectors)
#include "tst_pair_vectors.moc"
