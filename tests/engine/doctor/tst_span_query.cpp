// SPDX-License-Identifier: GPL-3.0-or-later
// Requests as queries with spans, templates, and comparisons of two prompts.
#include "engine/doctor/comparison.h"
#include "engine/doctor/report.h"
#include "engine/doctor/span_query.h"
#include "engine/query/json/json.h"
#include "tests/engine/doctor/log_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;
using namespace spanscope::doctor::testing;

namespace {

LoggedRequest requestOf(const Json& body) {
  std::string problem;
  return requestsOf(body.dump(), problem).at(0);
}

/// The joins of a kind in a query.
std::size_t joinsIn(const query::Node& node, query::JoinKind kind, std::size_t children) {
  std::size_t found = 0;
  if (const auto* generate = node.as<query::Generate>()) found += joinsIn(*generate->input, kind, children);
  if (const auto* join = node.as<query::Join>()) {
    found += join->kind == kind && join->children.size() == children ? 1 : 0;
    for (const query::Node& child : join->children) found += joinsIn(child, kind, children);
  }
  return found;
}

/// All texts of a query in the order of the tree.
std::string textIn(const query::Node& node) {
  if (const auto* message = node.as<query::Message>()) return message->text;
  std::string text;
  if (const auto* generate = node.as<query::Generate>()) text += textIn(*generate->input);
  if (const auto* join = node.as<query::Join>())
    for (const query::Node& child : join->children) text += textIn(child);
  return text;
}

PartCounts countsOf(const std::vector<Json>& bodies) {
  PartCounts counts;
  for (const Json& body : bodies) counts.add(requestOf(body));
  return counts;
}

}  // namespace

class TestSpanQuery : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// A request without proposals keeps its texts and their order.
  void keepsTexts() {
    const SpanQuery made = queryOf(requestOf(askedOver({1, 2}, "Why?")));
    QCOMPARE(joinsIn(made.query, query::JoinKind::Plus, 2), std::size_t{0});
    QVERIFY(textIn(made.query).starts_with("Be brief.Use these documents.\n<document>\n"));
    QVERIFY(textIn(made.query).ends_with("</document>\nWhy?"));
    QVERIFY(made.parameters.empty());
    QVERIFY(query::parseJson(query::writeCanonical(made.query)).query.has_value());
  }

  void documentsBecomeSpans() {
    const std::vector<Json> bodies{askedOver({1, 2, 3}, "Why?"), askedOver({3, 1, 4}, "How?")};
    const PartCounts counts = countsOf(bodies);
    const LoggedRequest request = requestOf(bodies.front());
    const std::vector<SpanProposal> proposals = proposeSpans(request, counts);
    QCOMPARE(proposals.size(), std::size_t{1});
    QVERIFY(proposals.front().kind == SpanKind::Documents && proposals.front().byDefault);
    QCOMPARE(proposals.front().parts, std::size_t{3});
    QCOMPARE(proposals.front().shared, std::size_t{2});
    QVERIFY(proposals.front().tokens > 300);
    const SpanQuery made = queryOf(request, proposals);
    QCOMPARE(joinsIn(made.query, query::JoinKind::Plus, 3), std::size_t{1});
    // The texts stay the same, and the question comes after the documents.
    QCOMPARE(textIn(made.query), textIn(queryOf(request).query));
    QVERIFY(textIn(made.query).ends_with("Why?"));
  }

  void toolsAndHistoryBecomeSpans() {
    Json body = bodyOf({{"system", "Be brief."},
                        {"user", "One?"},
                        {"assistant", "1."},
                        {"user", "Two?"},
                        {"assistant", "2."},
                        {"user", "Three?"}});
    for (const char* name : {"search", "read"})
      body["tools"].push_back({{"type", "function"}, {"function", {{"name", name}}}});
    const LoggedRequest request = requestOf(body);
    const std::vector<SpanProposal> proposals = proposeSpans(request, countsOf({body}));
    QCOMPARE(proposals.size(), std::size_t{2});
    QVERIFY(proposals[0].kind == SpanKind::Tools && proposals[0].byDefault);
    // Later turns often refer to earlier ones.
    QVERIFY(proposals[1].kind == SpanKind::History && !proposals[1].byDefault);
    const SpanQuery made = queryOf(request, proposals);
    QCOMPARE(joinsIn(made.query, query::JoinKind::Plus, 2), std::size_t{2});
    QCOMPARE(textIn(made.query), textIn(queryOf(request).query));
  }

  /// Examples begin most requests of a log, and the history of a conversation does not.
  void findsExamples() {
    std::vector<Json> bodies;
    for (const char* question : {"Three?", "Four?", "Five?"})
      bodies.push_back(bodyOf({{"system", "Be brief."},
                               {"user", "One?"},
                               {"assistant", "1."},
                               {"user", "Two?"},
                               {"assistant", "2."},
                               {"user", question}}));
    const std::vector<SpanProposal> proposals = proposeSpans(requestOf(bodies[0]), countsOf(bodies));
    QCOMPARE(proposals.size(), std::size_t{1});
    QVERIFY(proposals[0].kind == SpanKind::Examples && proposals[0].byDefault);
  }

  void templatesHaveParameters() {
    const std::vector<Json> bodies{askedOver({1, 2}, "Why?"), askedOver({3, 1}, "How?"),
                                   askedOver({1, 5}, "When?")};
    const PartCounts counts = countsOf(bodies);
    const LoggedRequest request = requestOf(bodies.front());
    const SpanQuery made = templateOf(request, counts, proposeSpans(request, counts));
    // Document 1 is in all requests, document 2 and the question in one.
    QCOMPARE(made.parameters.size(), std::size_t{2});
    QCOMPARE(made.parameters[0].name, std::string("document_1"));
    QVERIFY(made.parameters[0].defaultValue->find(document(2)) != std::string::npos);
    QCOMPARE(*made.parameters[1].defaultValue, std::string("Why?"));
    QVERIFY(textIn(made.query).find("{document_1}") != std::string::npos);
    QVERIFY(textIn(made.query).ends_with("{question_1}"));
    QVERIFY(textIn(made.query).find(document(1)) != std::string::npos);
  }

  void queriesHaveNoSecrets() {
    const Json body = bodyOf({{"system", "Key sk-abcdefgh12345678"}, {"user", "Bearer abcdef123456"}});
    const std::string text = query::writeCanonical(queryOf(requestOf(body)).query);
    QVERIFY(text.find("sk-abcdefgh") == std::string::npos);
    QVERIFY(text.find("abcdef123456") == std::string::npos);
  }

  void comparesTwoPrompts() {
    const LoggedRequest before = requestOf(askedOver({1, 2}, "Why?"));
    const LoggedRequest now = requestOf(askedOver({3, 1}, "Why?"));
    const auto tokenizer = makeEstimate();
    const PromptComparison made = comparePrompts(before, now, *tokenizer, 64);
    const PromptTokens tokens = tokenizer->tokens(now);
    QCOMPARE(made.now.texts.size(), tokens.prompt);
    QVERIFY(made.isEstimated);
    for (std::size_t i = 0; i < made.common; ++i) QCOMPARE(made.now.texts[i], made.before.texts[i]);
    QVERIFY(made.now.texts[made.common] != made.before.texts[made.common]);
    // Document 1 is a repeat, with equal texts.
    QVERIFY(!made.repeats.empty());
    std::size_t last = made.common;
    for (const Repeat& repeat : made.repeats) {
      QVERIFY(repeat.begin >= last);
      last = repeat.begin + repeat.count;
      for (std::size_t i = 0; i < repeat.count; ++i)
        QCOMPARE(made.now.texts[repeat.begin + i], made.before.texts[repeat.at + i]);
    }
    std::string text;
    for (const std::string& piece : made.now.texts) text += piece;
    QVERIFY(text.find(document(3)) != std::string::npos);
  }

  void comparisonsHideSecrets() {
    const LoggedRequest before = requestOf(bodyOf({{"user", "password: hunter2hunter2 and more"}}));
    const PromptComparison made = comparePrompts(before, before, *makeEstimate(), 64);
    std::string text;
    for (const std::string& piece : made.now.texts) text += piece;
    QVERIFY(text.find("hunter2") == std::string::npos);
    QVERIFY(text.find("and more") != std::string::npos);
  }

  void distancesAddUp() {
    std::vector<Json> bodies;
    for (int round = 0; round < 3; ++round)
      for (int number = 0; number < 5; ++number)
        bodies.push_back(bodyOf({{"user", document(number)}, {"assistant", "Yes."}, {"user", "Why?"}}));
    const LogReport report = diagnosed(linesOf(bodies));
    const std::vector<ReuseDistance> distances = reuseDistances(report);
    std::uint64_t cached = 0;
    std::size_t next = 1;
    for (const ReuseDistance& one : distances) {
      QCOMPARE(one.from, next);
      next = one.to + 1;
      cached += one.cached;
    }
    QCOMPARE(cached, report.cached);
    // Each prompt was sent five requests before.
    QCOMPARE(distances.size(), std::size_t{4});
    QCOMPARE(distances.back().requests, std::size_t{10});
  }
};

SPANSCOPE_TEST(tst_span_query, TestSpanQuery)
#include "tst_span_query.moc"
