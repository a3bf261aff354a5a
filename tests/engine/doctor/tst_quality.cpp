// SPDX-License-Identifier: GPL-3.0-or-later
// The sample of a log on which a model measures each way, and the measured values in reports.
#include "engine/doctor/quality.h"
#include "engine/doctor/report.h"
#include "engine/query/json/json.h"
#include "tests/engine/doctor/log_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;
using namespace spanscope::doctor::testing;

namespace {

struct Sampled {
  LogReport report;
  std::vector<QualityGroup> groups;
};

Sampled sampled(const std::vector<Json>& records, std::size_t most = 8) {
  const LogReader log({{.name = "log", .path = {}, .text = linesOf(records)}});
  const auto tokenizer = makeEstimate();
  Sampled made;
  made.report = diagnose(log, *tokenizer, {});
  made.groups = qualitySample(log, made.report, most);
  return made;
}

const QualityGroup* groupOf(const Sampled& sample, const std::string& way) {
  for (const QualityGroup& group : sample.groups)
    for (const QualityPolicy& policy : group.policies)
      if (std::ranges::find(policy.ways, way) != policy.ways.end()) return &group;
  return nullptr;
}

std::vector<std::uint32_t> numbersIn(const QualityGroup& group) {
  std::vector<std::uint32_t> numbers;
  for (const QualityQuestion& question : group.questions) numbers.push_back(question.request);
  return numbers;
}

/// Turns of one conversation, whose system message has the time of the request.
std::vector<Json> timedTurns(int turns) {
  std::vector<Json> records;
  Said said{{"system", ""}, {"user", "Which trains go from Lisbon to Porto in the morning?"}};
  for (int turn = 0; turn < turns; ++turn) {
    said[0].second = "It is 14:" + std::to_string(10 + turn) +
                     ". The key is sk-abcdefghijklmnopqrstuvwxyz0123456789. Name your sources.";
    records.push_back(bodyOf(said));
    said.emplace_back("assistant", "Three trains leave before noon.");
    said.emplace_back("user", "And number " + std::to_string(turn) + ", when does that train arrive?");
  }
  return records;
}

}  // namespace

class TestQuality : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Only requests that an edit changes are measured, and compared with the prompt of the log.
  void takesEditedRequests() {
    const Sampled sample = sampled(timedTurns(4));
    const QualityGroup* edits = groupOf(sample, "edits");
    QVERIFY(edits != nullptr);
    QCOMPARE(numbersIn(*edits), (std::vector<std::uint32_t>{1, 2, 3}));
    // Without documents, both ways have the same prompts.
    QCOMPARE(groupOf(sample, "documents"), edits);
    for (const QualityQuestion& question : edits->questions) {
      const auto edited = query::parseJson(question.query).query;
      const auto original = query::parseJson(question.original).query;
      QVERIFY(edited && original && !(*edited == *original));
      for (const std::string& text : {question.query, question.original}) {
        QVERIFY(text.find("sk-abcdefghijklmnop") == std::string::npos);
        QVERIFY(text.find("Lisbon") != std::string::npos);
      }
      // The edit moves the time behind the system message of the first turn.
      QVERIFY(question.query.find("It is 14:10") != std::string::npos);
      QVERIFY(question.original.find("It is 14:10") == std::string::npos);
    }
  }

  void takesAtMostSoMany() {
    const Sampled sample = sampled(timedTurns(9), 2);
    QCOMPARE(numbersIn(*groupOf(sample, "edits")), (std::vector<std::uint32_t>{1, 5}));
    QVERIFY(sampled({bodyOf({{"user", "Hello"}})}).groups.empty());
  }

  void takesDocuments() {
    const Sampled sample =
        sampled({askedOver({1, 2, 3}, "Why?"), askedOver({3, 1, 2}, "How?"), bodyOf({{"user", "Hello"}})});
    const QualityGroup* spans = groupOf(sample, "spans");
    QVERIFY(spans != nullptr);
    QCOMPARE(numbersIn(*spans), (std::vector<std::uint32_t>{0, 1}));
    QCOMPARE(spans, groupOf(sample, "spans_link_16"));
    // Spans change no text, so the prompt itself is the reference.
    for (const QualityQuestion& question : spans->questions) QVERIFY(question.original.empty());
    const QualityGroup* documents = groupOf(sample, "documents");
    QVERIFY(documents != nullptr && documents != groupOf(sample, "edits"));
    QCOMPARE(numbersIn(*documents), (std::vector<std::uint32_t>{1}));
  }

  void reportsAreIdentified() {
    const auto records = timedTurns(3);
    QCOMPARE(identityOf(sampled(records).report), identityOf(sampled(records).report));
    QVERIFY(identityOf(sampled(records).report) != identityOf(sampled(timedTurns(4)).report));
  }

  /// Every report has the values, and rows without a measurement have none.
  void reportsHaveTheQuality() {
    LogReport report = sampled(timedTurns(3)).report;
    const std::string plain = csvReport(report);
    report.qualityModel = "tiny";
    report.ways[1].quality = {.requests = {{.request = 1, .divergence = 0.25, .tokens = 10, .agreeing = 9},
                                           {.request = 2, .divergence = 0.75, .tokens = 10, .agreeing = 6}}};
    QCOMPARE(report.ways[1].quality->divergence(), 0.5);
    QCOMPARE(report.ways[1].quality->agreement(), 0.75);
    const std::string value = qualityText(report.ways[1].quality);
    QVERIFY(value != qualityText({}));
    QVERIFY(markdownReport(report, {}).find(value) != std::string::npos);
    QVERIFY(htmlReport(report, {}).find(value) != std::string::npos);
    const Json json = Json::parse(jsonReport(report, {}));
    QCOMPARE(json["ways"][1]["quality"]["divergence_nats"].get<double>(), 0.5);
    QCOMPARE(json["ways"][1]["quality"]["samples"].size(), std::size_t{2});
    QCOMPARE(json["ways"][1]["quality"]["samples"][0]["request"].get<int>(), 2);
    QVERIFY(!json["ways"][0].contains("quality"));
    const std::string csv = csvReport(report);
    QVERIFY(csv.find("kl_edits,agreement_edits\r\n") != std::string::npos);
    QVERIFY(csv.find(",0.25,0.9\r\n") != std::string::npos);
    QVERIFY(csv.find(",,\r\n") != std::string::npos);
    QVERIFY(plain.find("kl_") == std::string::npos);
  }
};

SPANSCOPE_TEST(tst_quality, TestQuality)
#include "tst_quality.moc"
