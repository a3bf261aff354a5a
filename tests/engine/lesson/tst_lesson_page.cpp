// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/page.h"
#include "kernels/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QRegularExpression>
#include <QRegularExpressionMatchIterator>
#include <QString>
#include <QTest>
#include <QXmlStreamReader>

#include <string>

using namespace spanscope;
using namespace spanscope::lesson;
using spanscope::product_text::says;

class TestLessonPage : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void markdown_data();
  void markdown();
  void pageNeedsNothingBesideIt();
  void picturesShowEveryToken();
  void picturesCountSubqueries();
  void theLastPromptIsAlwaysDrawn();
  void resultsBelowAQuestionAreFolded();
  void picturesOfViews();
  void picturesThatAreTooLarge();
};

void TestLessonPage::markdown_data() {
  QTest::addColumn<QString>("html");
  const auto row = [](const char* text, const char* html) { QTest::newRow(text) << QString(html); };
  row("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>\n");
  row("*a* and **b** and `*c*`", "<p><em>a</em> and <strong>b</strong> and <code>*c*</code></p>\n");
  row("2 * 3 * 4", "<p>2 * 3 * 4</p>\n");
  row("- a\n- b\n\nc", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<p>c</p>\n");
  row("1. a\n2. b\n   more", "<ol>\n<li>a</li>\n<li>b\n   more</li>\n</ol>\n");
  row("```json\n<a>\n```", "<pre><code>&lt;a&gt;\n</code></pre>\n");
  row("[it](node:/g)", "<p><em class=\"part\">it</em></p>\n");
  row("[it](https://a.example/?b&c)", "<p><a href=\"https://a.example/?b&amp;c\">it</a></p>\n");
  row("[it](javascript:alert)", "<p><em class=\"part\">it</em></p>\n");
  row("<script>\"'&", "<p>&lt;script&gt;&quot;&#39;&amp;</p>\n");
  row("a ` b", "<p>a ` b</p>\n");
  row("", "");
}

void TestLessonPage::markdown() {
  QFETCH(QString, html);
  QCOMPARE(QString::fromStdString(htmlOf(QTest::currentDataTag())), html);
}

namespace {

struct Made {
  FilledLesson filled;
  LessonFacts facts;
};

Made made(const std::string& text) {
  const ReadLesson read = readLesson(text);
  LessonRunOptions options{.backends = programBackends()};
  options.machine.device = "cpu";
  LessonFacts facts = runLesson(read.lesson, LessonFolder({}), options);
  FilledLesson filled = fill(read.lesson, facts);
  return {std::move(filled), std::move(facts)};
}

Made made() {
  return made(
      "---\ntitle: <b>A</b> title\nminutes: 5\nafter: what one knows\nqueries: example:rag.json\n---\n\n## "
      "1. <i>"
      "\n\nIt has {run 1: prompt tokens} & \x1a *more*.\n\n```do\nopen example:rag.json\nrun\n```\n\n## 2. "
      "Two\n\n"
      "```do\nswap /g/input/cross/1/plus/0 /g/input/cross/1/plus/1\nrun\n```\n\nIt has *{run 1: prompt "
      "tokens}*.\n\n"
      "```question\nHow many?\nnumber: run 2: computed tokens\n```\n\n```holds\nrun 2: cached tokens > "
      "0\n```\n");
}

}  // namespace

void TestLessonPage::pageNeedsNothingBesideIt() {
  const Made one = made();
  // The text's pictures come before the pictures of the next page: the second step's picture is of the first
  // run.
  const QString page = QString::fromStdString(pageOf(one.filled, one.facts));
  QVERIFY(page.startsWith("<!DOCTYPE html>"));
  QVERIFY(!page.contains("<script") && !page.contains(" src=") && !page.contains("@import"));
  QVERIFY(!page.contains("<b>A</b>") && page.contains("&lt;b&gt;A&lt;/b&gt; title"));
  QVERIFY(page.contains("prefers-color-scheme: dark"));
  const QString metric = QString("<span class=\"figure\" title=\"run 1: prompt tokens\">%1</span>")
                             .arg(one.facts[0].account.total());
  QVERIFY2(page.contains("It has " + metric + " &amp;"), "the first step's figure");
  QVERIFY(page.contains("It has <em>" + metric + "</em>."));
  QCOMPARE(page.count("<figure>"), 2);
  // Commands are closed below the text of each step. A click enlarges each picture.
  QCOMPARE(page.count("<details class=\"commands\">"), 2);
  QCOMPARE(page.count("<ul class=\"actions\">"), 2);
  QVERIFY(page.indexOf("<ul class=\"actions\">") > page.indexOf("<details class=\"commands\">"));
  QVERIFY(page.indexOf("<ul class=\"holds\">") > page.lastIndexOf("<details class=\"commands\">"));
  QVERIFY(page.indexOf("How many?") < page.lastIndexOf("<details class=\"commands\">"));
  QCOMPARE(page.count("<label class=\"zoom\">"), 2);
  // Whatever is opened is closed.
  for (const char* tag :
       {"section", "figure", "svg", "label", "ul", "li", "details", "p", "g", "span", "em"}) {
    const auto times = [&page](const QString& pattern) {
      int found = 0;
      for (auto each = QRegularExpression(pattern).globalMatch(page); each.hasNext(); each.next()) ++found;
      return found;
    };
    QCOMPARE(times(QString("<%1[ >]").arg(tag)), times(QString("</%1>").arg(tag)));
  }
}

void TestLessonPage::picturesShowEveryToken() {
  const Made one = made();
  const QString svg = QString::fromStdString(promptPicture(one.facts[1], "Run <2>"));
  QXmlStreamReader xml(svg);
  double hit = 0;
  double relocated = 0;
  double computed = 0;
  int blocks = 0;
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    const QString kind = xml.attributes().value("class").toString();
    const double width = xml.attributes().value("width").toDouble();
    blocks += xml.name() == u"g" ? 1 : 0;
    if (kind == "hit") hit += width;
    if (kind == "relocated") relocated += width;
    if (kind == "computed") computed += width;
  }
  QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
  const metrics::TokenAccount& account = one.facts[1].account.prompt;
  QVERIFY(account.hit > 0 && account.relocated > 0 && account.computed > 0);
  const double perToken = (hit + relocated + computed) / static_cast<double>(account.total());
  const double rounding = 0.1 * blocks;
  QVERIFY(std::abs(hit - perToken * static_cast<double>(account.hit)) < rounding);
  QVERIFY(std::abs(relocated - perToken * static_cast<double>(account.relocated)) < rounding);
  QVERIFY(std::abs(computed - perToken * static_cast<double>(account.computed)) < rounding);
  QVERIFY(svg.contains("aria-label=\"Run &lt;2&gt;\""));
}

/// Readers of a page do not know the paths of nodes.
void TestLessonPage::picturesCountSubqueries() {
  metrics::RunFacts run = made().facts[1];
  metrics::RequestFacts inner = run.requests.front();
  inner.node = "/g/input/cross/1/plus/0";
  run.requests.insert(run.requests.begin(), 2, inner);
  const QString svg = QString::fromStdString(promptPicture(run, "Run"));
  QCOMPARE(svg.count("class=\"caption\""), 3);
  QVERIFY(!svg.contains("/g/"));
  QVERIFY(svg.contains(" 1:") && svg.contains(" 2:") && !svg.contains(" 3:"));
}

/// The last prompt is that of the query. If there are too many prompts, those before it have no picture.
void TestLessonPage::theLastPromptIsAlwaysDrawn() {
  metrics::RunFacts run = made().facts[1];
  metrics::RequestFacts inner = run.requests.front();
  inner.node = "/g/input/cross/1/plus/0";
  run.requests.insert(run.requests.begin(), 8, inner);
  const QString svg = QString::fromStdString(promptPicture(run, "Run"));
  // Six prompts, and a line about the others.
  QCOMPARE(svg.count("class=\"caption\""), 7);
  QVERIFY(svg.contains(" 5:") && !svg.contains(" 6:"));
  const qsizetype last = svg.lastIndexOf("class=\"caption\"");
  QVERIFY(svg.indexOf(" 5:") < last && !svg.mid(last, 60).contains(QRegularExpression(" [0-9]:")));
}

/// The result of a run answers the question above the run. Metrics that are zero are left out.
void TestLessonPage::resultsBelowAQuestionAreFolded() {
  const Made one = made(
      "---\ntitle: T\nminutes: 5\nafter: `a`\nqueries: example:rag.json\n---\n\n## 1. One\n\nBefore.\n\n"
      "```question\nHow many?\nnumber: run 1: computed tokens\n```\n\n"
      "```do\nopen example:rag.json\nrun\n```\n\nAfterwards.\n\n## 2. Two\n\nNext.\n");
  const QString page = QString::fromStdString(pageOf(one.filled, one.facts));
  QCOMPARE(page.count("<label class=\"reveal\">"), 1);
  const qsizetype fold = page.indexOf("<div class=\"rest\">");
  QVERIFY(page.indexOf("How many?") < fold && fold < page.indexOf("<figure>"));
  QVERIFY(fold < page.indexOf("Afterwards."));
  const qsizetype end = page.indexOf("</div>", page.indexOf("Afterwards."));
  QVERIFY(end > 0 && end < page.indexOf("id=\"step-2\""));
  QVERIFY(page.contains("<code>a</code>"));
  QCOMPARE(page.count("<div"), page.count("</div>"));
  QVERIFY(!page.contains(" 0 hit"));
}

/// Both themes of a picture are in the page, in the step they belong to, after its last actions.
void TestLessonPage::picturesOfViews() {
  const Made one = made();
  const QString page = QString::fromStdString(
      pageOf(one.filled, one.facts, {{2, {{"Tokens <1>", "<svg>light?</svg>", "<svg>dark</svg>"}}}}));
  QCOMPARE(page.count("<figure class=\"view\">"), 1);
  const auto data = [](const char* svg) { return QString::fromLatin1(QByteArray(svg).toBase64()); };
  QVERIFY(page.contains("<img alt=\"Tokens &lt;1&gt;\" src=\"data:image/svg+xml;base64," +
                        data("<svg>light?</svg>") + "\">"));
  QVERIFY(page.contains("<source media=\"(prefers-color-scheme: dark)\" srcset=\"data:image/svg+xml;base64," +
                        data("<svg>dark</svg>") + "\">"));
  const qsizetype picture = page.indexOf("<figure class=\"view\">");
  QVERIFY(picture > page.indexOf("id=\"step-2\"") && picture > page.lastIndexOf("<figure>"));
  QVERIFY(picture < page.indexOf("How many?"));
}

void TestLessonPage::picturesThatAreTooLarge() {
  const Made one = made();
  const std::string half(kMostPictureBytes * 3 / 4 / 2 - 1000, 'x');
  const std::string large(kMostPictureBytes, 'y');
  const std::string page = pageOf(
      one.filled, one.facts, {{1, {{"Large", large, ""}, {"Half", half, half}}}, {2, {{"Small", "z", "z"}}}});
  QVERIFY(page.size() < 5'000'000);
  QVERIFY(page.find("alt=\"Half\"") != std::string::npos && page.find("alt=\"Small\"") != std::string::npos);
  QVERIFY(page.find("alt=\"Large\"") == std::string::npos);
  QVERIFY(says(page, "Large<picture-too-large>"));
}

SPANSCOPE_TEST(tst_lesson_page, TestLessonPage)
#include "tst_lesson_page.moc"
