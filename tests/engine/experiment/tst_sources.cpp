// SPDX-License-Identifier: GPL-3.0-or-later
// Questions with known documents, and measures of the documents that an answer used.
#include "engine/experiment/sources.h"
#include "engine/query/json/json.h"
#include "engine/trace/prompt_parts.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::experiment;
using spanscope::product_text::worded;

namespace {

/// Segments: the prompt's head, three documents, the question; one layer of two heads.
ReadAnswer answerOf(const std::vector<std::vector<float>>& rows,
                    const std::vector<std::vector<float>>& firsts) {
  ReadAnswer answer;
  answer.segments.resize(5);
  for (std::size_t i = 1; i <= 3; ++i) {
    answer.segments[i].independent = true;
    answer.segments[i].tokens.resize(i == 3 ? 21 : 11);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    trace::SegmentAttention& row = answer.rows.emplace_back();
    row.index = static_cast<std::int32_t>(i);
    row.segment = 4;
    row.keySegments = {0, 1, 2, 3, 4};
    row.layers = {7};
    row.heads = 2;
    row.mass = rows[i];
    row.first = firsts[i];
  }
  return answer;
}

ReadAnswer exampleAnswer() {
  // Document 1 is a sink of one head, 2 is looked at hard by one head, 3 a little by both.
  return answerOf({{0.1F, 0.4F, 0.0F, 0.2F, 0.3F, 0.1F, 0.0F, 0.3F, 0.2F, 0.4F}},
                  {{0.1F, 0.4F, 0.0F, 0.0F, 0.0F, 0.1F, 0.0F, 0.0F, 0.0F, 0.0F}});
}

std::vector<double> shares(const ReadAnswer& answer) {
  const trace::PromptParts parts(answer.segments, nullptr);
  std::vector<trace::PartAttention> joined;
  for (const trace::SegmentAttention& row : answer.rows) joined.push_back(trace::byPart(row, parts));
  std::vector<const trace::PartAttention*> rows;
  for (const trace::PartAttention& row : joined) rows.push_back(&row);
  return trace::sourceShares(parts, rows);
}

bool near(double a, double b) {
  return std::abs(a - b) < 1e-6;
}

}  // namespace

class TestSources : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void questionsAreTheSameAgain() {
    const SourceWorld world{.documents = 8, .rivals = 0, .seed = 3};
    QCOMPARE(sourceQuestion(world, 5).documents, sourceQuestion(world, 5).documents);
    QVERIFY(sourceQuestion(world, 5).documents != sourceQuestion(world, 6).documents);
    QVERIFY(sourceQuestion({.documents = 8, .rivals = 0, .seed = 4}, 5).documents !=
            sourceQuestion(world, 5).documents);
  }

  /// Each question can be answered from the documents it needs and from no others.
  void neededDocumentsHoldTheAnswer() {
    for (const std::int32_t documents : {4, 8, 20, kMostSources}) {
      for (std::int32_t index = 0; index < 40; ++index) {
        const SourceWorld world{.documents = documents, .rivals = 1, .seed = 1};
        const SourceQuestion question = sourceQuestion(world, index);
        QCOMPARE(question.documents.size(), static_cast<std::size_t>(documents));
        QCOMPARE(question.needed.size(), static_cast<std::size_t>(index % 2 == 1 ? 2 : 1));
        QVERIFY(std::is_sorted(question.needed.begin(), question.needed.end()));
        const std::string person = question.answer.substr(0, question.answer.find(' '));
        int relations = 0;
        for (std::size_t i = 0; i < question.documents.size(); ++i) {
          const std::string& text = question.documents[i];
          const bool isNeeded = std::find(question.needed.begin(), question.needed.end(),
                                          static_cast<std::int32_t>(i)) != question.needed.end();
          const bool namesPerson =
              text.find(person + " ") == 0 || text.find(" " + person + ".") != std::string::npos;
          QCOMPARE(namesPerson, isNeeded);
          relations += text.rfind("The ", 0) == 0 ? 1 : 0;
        }
        QCOMPARE(relations, index % 2 == 1 ? 2 : 1);
        const bool namesOfQuestion = question.question.find(person) != std::string::npos;
        QCOMPARE(namesOfQuestion, question.needed.size() == 1);
      }
    }
  }

  void documentsStandEverywhere() {
    std::set<std::int32_t> places;
    for (std::int32_t index = 0; index < 60; ++index) {
      places.insert(sourceQuestion({.documents = 8, .rivals = 0, .seed = 1}, index).needed.front());
    }
    QCOMPARE(places.size(), std::size_t{8});
  }

  void queryHoldsEveryDocument() {
    const SourceQuestion question = sourceQuestion({.documents = 8, .rivals = 0, .seed = 1}, 0);
    const std::string json = query::writeCanonical(sourceQuery(question));
    for (const std::string& document : question.documents) QVERIFY(json.find(document) != std::string::npos);
    QVERIFY(json.find(question.question) != std::string::npos);
  }

  void sharesAreSquaresWithoutFirstTokens() {
    const std::vector<double> found = shares(exampleAnswer());
    QCOMPARE(found.size(), std::size_t{5});
    const double sum = 0.2 * 0.2 + 0.3 * 0.3 + 0.2 * 0.2;
    QVERIFY(near(found[0], 0));
    QVERIFY(near(found[1], 0));
    QVERIFY(near(found[2], 0.09 / sum));
    QVERIFY(near(found[3], 0.08 / sum));
    QVERIFY(near(found[4], 0));
  }

  void sharesOfNothingAreNothing() {
    QCOMPARE(shares({}), std::vector<double>());
    ReadAnswer answer = exampleAnswer();
    answer.rows[0].index = -1;  // a row of the prompt
    QCOMPARE(shares(answer), std::vector<double>(5, 0.0));
    answer = exampleAnswer();
    for (trace::SegmentInfo& segment : answer.segments) segment.independent = false;
    QCOMPARE(shares(answer), std::vector<double>(5, 0.0));
    // A trace may say anything.
    answer = exampleAnswer();
    answer.rows[0].keySegments = {9, 9, 2, 9, 9};
    answer.rows[0].first.resize(3);
    QVERIFY(near(shares(answer)[2], 0));
  }

  void measuresDiffer() {
    const ReadAnswer answer = exampleAnswer();
    for (const SourceMeasure& measure : sourceMeasures()) {
      const std::vector<double> read = measure.read(answer);
      QCOMPARE(read.size(), std::size_t{3});
      const auto most = std::max_element(read.begin(), read.end()) - read.begin();
      if (measure.name == "squares") QCOMPARE(most, 1);
      if (measure.name == "attention") QVERIFY(near(read[0], 0.4) && near(read[2], 0.4));
      if (measure.name == "without sinks") QCOMPARE(most, 2);
      if (measure.name == "per token") QVERIFY(near(read[1], 0.03) && near(read[2], 0.02));
      if (measure.name == "strongest head") QVERIFY(near(read[1], 0.3) && near(read[2], 0.2));
      if (measure.name == worded(std::string("<more-first>"))) QVERIFY(near(read[0], 0) && near(read[1], 0));
    }
    const std::vector<double> head = headsMeasure({{7, 1}}).read(answer);
    QVERIFY(near(head[0], 0) && near(head[1], 0.3) && near(head[2], 0.2));
  }

  void countsRightAnswersOnly() {
    std::vector<AskedQuestion> asked(4);
    for (AskedQuestion& question : asked) question.answer = exampleAnswer();
    asked[0].needed = {1};
    asked[0].isRight = true;
    asked[1].needed = {1, 2};
    asked[1].isRight = true;
    asked[2].needed = {0};
    asked[2].isRight = true;
    asked[3].needed = {1};
    const Reading squares = sourceMeasures().front().read;
    QVERIFY((countAsked(asked) == SourceCount{3, 1}));
    QVERIFY((countRight(asked) == SourceCount{2, 1}));
    QVERIFY((countFound(asked, squares) == SourceCount{1, 1}));
    // Where all are equal nothing is on top.
    QVERIFY(
        (countFound(asked, [](const ReadAnswer&) { return std::vector<double>(3, 1.0); }) == SourceCount{}));
    QVERIFY((bestHeads(asked, 2) == std::vector<Head>{{7, 1}}));
  }
};

SPANSCOPE_TEST(tst_sources, TestSources)
#include "tst_sources.moc"
