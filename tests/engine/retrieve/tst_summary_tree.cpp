// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/passage_index.h"
#include "tests/engine/retrieve/stand_ins.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>
#include <memory>

using namespace spanscope;
using namespace spanscope::retrieve;
using spanscope::retrieve::test::FirstWords;

class TestSummaryTree : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void shape_data();
  void shape();
  void summariesAreMadeOnce();
  void blankOnesEndTheTree();
  void itCanBeStoppedAndGoesOn();
  void tooManyAreRefused();
  void summariesAreFound();
};

namespace {

class Memory final : public SummaryStore {
 public:
  std::optional<std::string> find(const std::string& key) override {
    const auto at = m_texts.find(key);
    return at == m_texts.end() ? std::nullopt : std::optional(at->second);
  }
  void keep(const std::vector<std::pair<std::string, std::string>>& summaries) override {
    m_texts.insert(summaries.begin(), summaries.end());
  }

 private:
  std::map<std::string, std::string> m_texts;
};

class Silent final : public Summarizer {
 public:
  std::string fingerprint() const override { return "silent"; }
  std::size_t groupSize() const override { return 2; }
  std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                     std::stop_token /*stop*/) override {
    return std::vector<std::string>(groups.size(), " \n");
  }
};

std::vector<Passage> leaves(std::size_t count) {
  std::vector<Passage> passages(count);
  for (std::size_t i = 0; i < count; ++i) {
    passages[i].text = "Text " + std::to_string(i) + " of many";
    passages[i].place = "page " + std::to_string(i / 2 + 1);
  }
  return passages;
}

}  // namespace

void TestSummaryTree::shape_data() {
  QTest::addColumn<int>("count");
  QTest::addColumn<int>("group");
  QTest::addColumn<QString>("levels");
  QTest::newRow("none") << 0 << 3 << "";
  QTest::newRow("one") << 1 << 3 << "";
  QTest::newRow("two") << 2 << 3 << "1";
  QTest::newRow("a group") << 3 << 3 << "1";
  QTest::newRow("even groups") << 4 << 3 << "2 1";
  QTest::newRow("no single one") << 3 << 2 << "1";
  QTest::newRow("five by two") << 5 << 2 << "2 1";
  QTest::newRow("three levels") << 20 << 3 << "7 3 1";
}

void TestSummaryTree::shape() {
  QFETCH(int, count);
  QFETCH(int, group);
  QFETCH(QString, levels);
  std::vector<Passage> passages = leaves(static_cast<std::size_t>(count));
  FirstWords summarizer(static_cast<std::size_t>(group));
  Memory store;
  std::size_t reported = 0;
  const Watch watch{.progress = [&](const IndexProgress& now) { reported = now.done; }, .stop = {}};
  QVERIFY(addSummaries(passages, summarizer, store, watch));
  std::map<std::uint32_t, int> counts;
  for (const Passage& passage : passages) ++counts[passage.level];
  QStringList found;
  for (const auto& [level, number] : counts) {
    if (level > 0) found << QString::number(number);
  }
  QCOMPARE(found.join(' '), levels);
  QCOMPARE(reported, passages.size() - static_cast<std::size_t>(count));
  if (count == 4) {
    QCOMPARE(passages[4].text, std::string("Summary: Text 0 Text 1"));
    QCOMPARE(passages[4].place, std::string("summary of page 1"));
    QCOMPARE(passages[6].place, std::string("summary of page 1 to page 2"));
  }
}

void TestSummaryTree::summariesAreMadeOnce() {
  FirstWords summarizer;
  Memory store;
  std::vector<Passage> first = leaves(9);
  QVERIFY(addSummaries(first, summarizer, store, {}));
  QCOMPARE(summarizer.made, std::size_t{4});
  std::vector<Passage> second = leaves(9);
  QVERIFY(addSummaries(second, summarizer, store, {}));
  QCOMPARE(summarizer.made, std::size_t{4});
  QCOMPARE(second.back().text, first.back().text);
  // One leaf of nine changes: its own summary and those above, if it changes them.
  std::vector<Passage> third = leaves(9);
  third[8].text = "Another ending";
  QVERIFY(addSummaries(third, summarizer, store, {}));
  QCOMPARE(summarizer.made, std::size_t{6});
}

void TestSummaryTree::blankOnesEndTheTree() {
  Silent summarizer;
  Memory store;
  std::vector<Passage> passages = leaves(8);
  QVERIFY(addSummaries(passages, summarizer, store, {}));
  QCOMPARE(passages.size(), std::size_t{8});
}

void TestSummaryTree::itCanBeStoppedAndGoesOn() {
  std::stop_source stop;
  FirstWords summarizer;
  Memory store;
  std::vector<Passage> passages = leaves(60);
  const Watch watch{.progress = [&](const IndexProgress&) { stop.request_stop(); }, .stop = stop.get_token()};
  QVERIFY(!addSummaries(passages, summarizer, store, watch));
  QCOMPARE(summarizer.made, std::size_t{8});
  std::vector<Passage> again = leaves(60);
  QVERIFY(addSummaries(again, summarizer, store, {}));
  QCOMPARE(summarizer.made, again.size() - 60);
}

void TestSummaryTree::tooManyAreRefused() {
  std::vector<Passage> passages(kMaxSummarizedPassages + 1);
  FirstWords summarizer;
  Memory store;
  QVERIFY_EXCEPTION_THROWN(addSummaries(passages, summarizer, store, {}), Failure);
}

void TestSummaryTree::summariesAreFound() {
  const auto tokenizer = text::loadTokenizer(text::test::bundledModel());
  PassageIndex index;
  FirstWords summarizer;
  const std::vector<SourceDocument> document = {
      {"a.csv", "Mira lives\nTarek bakes\nOtto drums\nNadia runs\n"}};
  const auto plain = index.add(document, *tokenizer);
  const auto with = index.add(document, *tokenizer, {.chunk = {}, .summarizer = &summarizer});
  QVERIFY(plain.keys != with.keys);
  QCOMPARE(index.documentCount(), std::size_t{2});
  QVERIFY(index.find("Summary", 5, plain.keys).empty());
  const std::vector<Passage> found = index.find("Summary", 5, with.keys);
  QCOMPARE(found.size(), std::size_t{3});
  for (const Passage& passage : found) QVERIFY(passage.level > 0);
  QCOMPARE(index.find("Otto drums", 1, with.keys)[0].level, 0U);
}

SPANSCOPE_TEST(tst_summary_tree, TestSummaryTree, QCoreApplication)
#include "tst_summary_tree.moc"
