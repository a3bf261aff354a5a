// SPDX-License-Identifier: GPL-3.0-or-later
// Every bundled lesson, run on the bundled model: what it says must hold does, its questions are answered,
// its figures can be had, and no figure is typed.
#include "engine/base/error.h"
#include "engine/lesson/filled.h"
#include "engine/lesson/lesson_folder.h"
#include "engine/lesson/lesson_run.h"
#include "engine/metrics/metric_table.h"
#include "engine/metrics/run_facts.h"
#include "kernels/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::lesson;
using spanscope::product_text::worded;

namespace {

FilledLesson filledFrom(const std::string& text, const std::filesystem::path& folder,
                        LessonFacts* facts = nullptr, std::stop_token stop = {}) {
  const ReadLesson read = readLesson(text);
  const LessonFolder own(folder);
  LessonRunOptions options{.backends = programBackends(), .stop = std::move(stop)};
  options.machine.device = "cpu";
  options.machine.threads = 1;
  LessonFacts made = runLesson(read.lesson, own, options);
  FilledLesson filled = fill(read.lesson, made);
  if (facts != nullptr) *facts = std::move(made);
  return filled;
}

double numberOf(const LessonFacts& facts, std::size_t run, const char* name) {
  return std::get<double>(metrics::find(name)->of(facts.at(run - 1)).value());
}

const std::string kHead =
    "---\ntitle: A title\nminutes: 5\nafter: what one knows\nqueries: example:rag.json\n---\n\n## 1. "
    "First\n\n";

}  // namespace

class TestLessonRun : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bundledLessons_data();
  void bundledLessons();
  void whyHasAReason_data() { bundledLessons_data(); }
  void whyHasAReason();
  void actionsTellTheEngine();
  void theManualsExample();
  void whatDoesNotHoldIsSaid();
  void whatHoldsOnOneModelOnly();
  void whatCannotBeHadIsSaid();
  void linksAreTheirWordsInAText();
  void aStopEndsIt();
};

void TestLessonRun::bundledLessons_data() {
  QTest::addColumn<QString>("file");
  int number = 0;
  for (const BundledLesson& one : lesson::bundledLessons()) {
    const std::string name = one.file.filename().string();
    QVERIFY2(name.starts_with(std::to_string(number) + "-"), name.c_str());
    QTest::newRow(name.c_str()) << QString::fromStdString(one.file.string());
    ++number;
  }
  QVERIFY(number >= 4);
}

void TestLessonRun::bundledLessons() {
  QFETCH(QString, file);
  const std::filesystem::path path = file.toStdString();
  const std::string text = readLessonFile(path);
  ReadLesson read = readLesson(text);
  const std::vector<Fault> found = checkLesson(read.lesson, LessonFolder(path.parent_path()));
  read.faults.insert(read.faults.end(), found.begin(), found.end());
  // Warnings too: a digit in a sentence is one.
  for (const query::Diagnostic& diagnostic : diagnosticsOf(read.faults, text))
    QFAIL(diagnostic.located(file.toStdString()).c_str());

  const FilledLesson filled = filledFrom(text, path.parent_path());
  QStringList failures;
  for (const std::string& failure : filled.failures()) failures << QString::fromStdString(failure);
  QVERIFY2(failures.isEmpty(), qPrintable(failures.join('\n')));

  // At the beginning of a line, Markdown reads a number and a point as a list entry.
  for (const FilledStep& step : filled.steps) {
    for (const FilledBlock& block : step.blocks) {
      if (const auto* question = std::get_if<FilledQuestion>(&block)) {
        // A choice is no Markdown.
        for (const FilledChoice& choice : question->choices)
          QVERIFY2(choice.text.find_first_of("`*{") == std::string::npos, choice.text.c_str());
      }
      const auto* prose = std::get_if<FilledProse>(&block);
      if (prose == nullptr) continue;
      for (std::size_t i = 0; i + 1 < prose->pieces.size(); ++i) {
        const bool beginsLine = i == 0 || prose->pieces[i - 1].text.ends_with('\n');
        const bool isEntry = beginsLine && prose->pieces[i].kind == FilledPiece::Kind::Metric &&
                             prose->pieces[i + 1].text.starts_with(". ");
        QVERIFY2(!isEntry, prose->pieces[i].metric.c_str());
      }
    }
  }

  // Each asks, checks its claims on its runs, and ends with something to try and with what the reader knows
  // now.
  const LessonCounts counts = countsOf(read.lesson);
  QVERIFY(counts.questions >= 1 && counts.claims >= 3 && counts.metrics >= 5 && counts.runs >= 2);
  QVERIFY(read.lesson.steps.size() >= 6);
  // The list of lessons explains this estimate.
  QVERIFY(std::abs(read.lesson.head.minutes - estimatedMinutes(counts)) <= 1);
  QCOMPARE(read.lesson.steps[read.lesson.steps.size() - 2].title, std::string("Try alone"));
  QCOMPARE(read.lesson.steps.back().title, std::string("You now know"));
}

/// The dock Why speaks of blocks and tokens, and has something to say of those that were not simply found: a
/// step that shows it ends with such a one selected.
void TestLessonRun::whyHasAReason() {
  QFETCH(QString, file);
  const std::filesystem::path path = file.toStdString();
  const std::string text = readLessonFile(path);
  const ReadLesson read = readLesson(text);
  LessonFacts facts;
  std::size_t runs = 0;
  for (const Step& step : read.lesson.steps) {
    bool showsWhy = false;
    std::optional<Target> target;
    for (const Block& block : step.blocks) {
      const auto* list = std::get_if<ActionList>(&block);
      if (list == nullptr) continue;
      for (const Action& action : list->actions) {
        if (action.kind == ActionKind::Run) ++runs;
        if (action.kind == ActionKind::Dock)
          showsWhy = std::get<std::string>(action.arguments[0].value) == "why";
        if (action.kind == ActionKind::Select) target = std::get<Target>(action.arguments[0].value);
      }
    }
    if (!showsWhy) continue;
    const std::string where = "step " + std::to_string(step.number);
    QVERIFY2(target && target->kind != Target::Kind::Node && target->kind != Target::Kind::Span,
             where.c_str());
    if (facts.empty()) filledFrom(text, path.parent_path(), &facts);
    const metrics::RunFacts& run = facts.at(runs - 1);
    const metrics::RequestFacts& request = run.requests.at(0);
    const trace::BlockPlace place =
        target->kind == Target::Kind::Block
            ? metrics::blocksInView(request, run.blockSize).at(target->number)
            : metrics::blockOf(metrics::tokensInView(request).at(target->number - 1), run.blockSize);
    const auto lookup = std::find_if(request.lookups.begin(), request.lookups.end(),
                                     [&place](const trace::BlockLookedUp& one) {
                                       return trace::BlockPlace{one.segment, one.virtualIndex} == place;
                                     });
    QVERIFY2(lookup != request.lookups.end(), where.c_str());
    QVERIFY2(lookup->outcome != trace::LookupOutcome::Hit, where.c_str());
  }
}

void TestLessonRun::actionsTellTheEngine() {
  LessonFacts facts;
  filledFrom(
      kHead +
          "Text.\n\n```do\nopen example:rag.json\nrun\nrun\nempty cache\nrun\nset block_size=4\nrun\n"
          "set policy=prefix\nswap /g/input/cross/1/plus/0 /g/input/cross/1/plus/1\nrun\nmeasure fidelity\n"
          "edit /g/input/cross/2 \"Where does Mira live?\"\nrun\nmeasure fidelity run 5\n```\n",
      {}, &facts);
  QCOMPARE(facts.size(), std::size_t{6});
  const double all = numberOf(facts, 1, "prompt tokens");
  QCOMPARE(numberOf(facts, 1, "cached tokens"), 0.0);
  QCOMPARE(numberOf(facts, 2, "computed tokens"), 1.0);
  QCOMPARE(numberOf(facts, 3, "computed tokens"), all);  // the cache was emptied
  QCOMPARE(numberOf(facts, 4, "computed tokens"), all);  // and this is another pool
  QCOMPARE(numberOf(facts, 4, "block size"), 4.0);
  QCOMPARE(facts[3].policy, std::string("spans"));
  QCOMPARE(facts[4].policy, std::string("prefix"));
  QCOMPARE(numberOf(facts, 5, "divergence"), 0.0);
  QVERIFY(!facts[3].fidelity && !facts[5].fidelity);
  QVERIFY(facts[5].answer != facts[4].answer);
  // Numbers of runs go on when the session is another one.
  QVERIFY(facts[3].run > facts[2].run);
}

/// The lesson that the manual recommends to teachers as a start is right without changes.
void TestLessonRun::theManualsExample() {
  QFile manual(SPANSCOPE_SOURCE_DIR "/resources/manual/lessons.md");
  QVERIFY(manual.open(QIODevice::ReadOnly));
  const QString page = QString::fromUtf8(manual.readAll());
  const QTemporaryDir folder;
  QFile written(folder.filePath("pets.json"));
  QVERIFY(written.open(QIODevice::WriteOnly));
  written.write(page.section("```json file=pets.json\n", 1).section("\n```", 0, 0).toUtf8());
  written.close();
  const std::string text =
      page.section("````markdown\n", 1).section("\n````", 0, 0).append('\n').toStdString();
  const std::filesystem::path place = folder.path().toStdString();
  ReadLesson read = readLesson(text);
  const std::vector<Fault> found = checkLesson(read.lesson, LessonFolder(place));
  read.faults.insert(read.faults.end(), found.begin(), found.end());
  for (const query::Diagnostic& diagnostic : diagnosticsOf(read.faults, text))
    QFAIL(diagnostic.located("my-lesson.md").c_str());
  QVERIFY(filledFrom(text, place).failures().empty());
  QVERIFY(countsOf(read.lesson).runs == 2);
}

void TestLessonRun::whatDoesNotHoldIsSaid() {
  const FilledLesson filled = filledFrom(
      kHead +
          "Text.\n\n```do\nopen example:rag.json\nrun\n```\n\n```holds\nrun 1: cached tokens > 0\n"
          "run 1: cached tokens = 0\n```\n\n```question\nWhich?\nchoice: a | run 1: cached tokens = 0\n"
          "choice: b | run 1: cached tokens < 1\n```\n",
      {});
  const std::vector<std::string> expected{
      "step 1: run 1: cached tokens > 0 does not hold: 0 and 0",
      worded(std::string("step 1: the question \"Which?\" <not-exactly-right>"))};
  QVERIFY(filled.failures() == expected);
}

/// Claims about one model are not checked with another.
void TestLessonRun::whatHoldsOnOneModelOnly() {
  const auto failuresWith = [](const std::string& where) {
    const FilledLesson filled =
        filledFrom(kHead + "Text.\n\n```do\nopen example:rag.json\nrun\n```\n\n```holds\nwhere " + where +
                       "\nrun 1: cached tokens > 0\n```\n",
                   {});
    return filled.failures();
  };
  QCOMPARE(failuresWith("run 1: model = \"spanlet\"").size(), std::size_t{1});
  QVERIFY(failuresWith("run 1: model != \"spanlet\"").empty());
  const std::vector<std::string> unknown{
      "step 1: run 1: first relocated block = 1 is not known: run 1 has no first relocated block"};
  QVERIFY(failuresWith("run 1: first relocated block = 1") == unknown);
}

/// Reading does not know what a run will lack; then the place in the text says so.
void TestLessonRun::whatCannotBeHadIsSaid() {
  const FilledLesson filled = filledFrom(
      kHead + "Text.\n\n```do\nopen example:rag.json\nrun\n```\n\nIt was {run 1: first relocated block}.\n",
      {});
  const std::vector<std::string> failures = filled.failures();
  QCOMPARE(failures.size(), std::size_t{1});
  QCOMPARE(
      failures[0],
      std::string("step 1: {run 1: first relocated block} is not known: run 1 has no first relocated block"));
  QVERIFY(textOf(filled).find("It was [not known: run 1 has no first relocated block].") !=
          std::string::npos);
}

void TestLessonRun::linksAreTheirWordsInAText() {
  FilledLesson filled{
      .title = "A", .minutes = 1, .after = "b", .steps = {{.number = 1, .title = "c", .blocks = {}}}};
  filled.steps[0].blocks.push_back(FilledProse{
      {{.text = "See [this one](node:/g) and [that](https://a.example), [not] (block:1) [x](block:2)."}}});
  QVERIFY(textOf(filled).find("See this one and [that](https://a.example), [not] (block:1) x.\n") !=
          std::string::npos);
  filled.steps[0].blocks = {FilledProse{{{.text = "a [b](c"}}}};
  QVERIFY(textOf(filled).find("a [b](c\n") != std::string::npos);
}

void TestLessonRun::aStopEndsIt() {
  std::stop_source stop;
  stop.request_stop();
  QVERIFY_EXCEPTION_THROWN(
      filledFrom(kHead + "Text.\n\n```do\nopen example:rag.json\nrun\n```\n", {}, nullptr, stop.get_token()),
      Failure);
}

SPANSCOPE_TEST(tst_lesson_run, TestLessonRun)
#include "tst_lesson_run.moc"
