// SPDX-License-Identifier: GPL-3.0-or-later
// What README and manual refer to exists: pages, headings, pictures, docks, commands, examples, files.
#include "engine/lesson/actions.h"
#include "tests/support/test_program.h"
#include "ui/commands/command_table.h"
#include "ui/manual/manual_browser.h"
#include "ui/views/common/choices.h"
#include "ui/views/view.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QList>
#include <QObject>
#include <QRegularExpression>
#include <QRegularExpressionMatch>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <utility>

using namespace spanscope::ui;

namespace {

const QString kSource = QStringLiteral(SPANSCOPE_SOURCE_DIR);
const QString kManual = kSource + QStringLiteral("/resources/manual");
constexpr qsizetype kMostReadmeLines = 150;

/// README, what is in .github, and every page, relative to the source.
QStringList texts() {
  QStringList found{QStringLiteral("README.md"), QStringLiteral(".github/CONTRIBUTING.md"),
                    QStringLiteral(".github/SECURITY.md")};
  QDirIterator files(kManual, {QStringLiteral("*.md")}, QDir::Files, QDirIterator::Subdirectories);
  while (files.hasNext()) found.append(QDir(kSource).relativeFilePath(files.next()));
  found.sort();
  return found;
}

QStringList linesOf(const QString& path) {
  QFile file(kSource + QLatin1Char('/') + path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))
                                        : QStringList();
}

/// Without the text in fenced blocks.
QStringList proseOf(const QString& path) {
  QStringList prose;
  bool code = false;
  for (const QString& line : linesOf(path)) {
    if (line.startsWith(QLatin1String("```"))) {
      code = !code;
    } else if (!code) {
      prose.append(line);
    }
  }
  return prose;
}

/// Plain text of a heading: marks and links do not count in its anchor.
QStringList anchorsOf(const QString& path) {
  static const QRegularExpression heading(QStringLiteral("^#{1,6}\\s+(.*\\S)\\s*$"));
  QStringList anchors;
  for (const QString& line : proseOf(path)) {
    if (const auto match = heading.match(line); match.hasMatch())
      anchors.append(headingAnchor(match.captured(1).remove(QLatin1Char('`')).remove(QLatin1Char('*'))));
  }
  return anchors;
}

struct Link {
  QString target;
  bool isPicture = false;
};

QList<Link> linksOf(const QString& path) {
  static const QRegularExpression link(QStringLiteral("(!?)\\[[^\\]]*\\]\\(([^)\\s]+)\\)"));
  static const QRegularExpression code(QStringLiteral("`[^`]*`"));
  QList<Link> links;
  const QString text = proseOf(path).join(QLatin1Char('\n')).remove(code);
  for (auto found = link.globalMatch(text); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    links.append({match.captured(2), !match.captured(1).isEmpty()});
  }
  return links;
}

/// Pieces of code in running text: "`file.open`".
QStringList codeOf(const QString& path) {
  static const QRegularExpression code(QStringLiteral("`([^`\\n]+)`"));
  QStringList pieces;
  for (auto found = code.globalMatch(proseOf(path).join(QLatin1Char('\n'))); found.hasNext();)
    pieces.append(found.next().captured(1));
  return pieces;
}

/// Paragraphs, list items and table rows of running text, without headings and code.
QStringList prosePartsOf(const QString& path) {
  static const QRegularExpression item(QStringLiteral("^\\s*([-*>]|\\d+\\.)\\s"));
  static const QRegularExpression code(QStringLiteral("`[^`]*`"));
  QStringList parts;
  bool goesOn = false;
  for (const QString& line : proseOf(path)) {
    const bool isRow = line.startsWith(QLatin1Char('|'));
    if (line.isEmpty() || line.startsWith(QLatin1Char('#'))) {
      goesOn = false;
    } else if (goesOn && !isRow && !item.match(line).hasMatch()) {
      parts.last() += QLatin1Char(' ') + line.trimmed();
    } else {
      parts += line;
      goesOn = !isRow;
    }
  }
  static const QRegularExpression target(QStringLiteral("\\]\\([^)]*\\)"));
  for (QString& part : parts) part.remove(code).replace(target, QStringLiteral("]"));
  return parts;
}

/// The pages of the manual that are written by the rules: those that tst_plain_words does not list as
/// pending.
void addPlainPages() {
  QTest::addColumn<QString>("path");
  const QStringList pending = linesOf(QStringLiteral("tests/ui/words/plain_words_pending.txt"));
  for (const QString& path : texts()) {
    if (path.startsWith(QLatin1String("resources/manual/")) && !pending.contains(path))
      QTest::newRow(qPrintable(path)) << path;
  }
}

void addTexts() {
  QTest::addColumn<QString>("path");
  for (const QString& path : texts()) QTest::newRow(qPrintable(path)) << path;
}

}  // namespace

class TestManual : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readmeIsShort() {
    const QStringList lines = linesOf(QStringLiteral("README.md"));
    QVERIFY(lines.size() > 20);
    QVERIFY2(lines.size() - 1 <= kMostReadmeLines, qPrintable(QString::number(lines.size() - 1)));
  }

  void everyPageIsReached() {
    QStringList reached;
    for (const ManualPage& page : readManual(kManual)) reached.append(page.path);
    for (const QString& path : texts()) {
      if (!path.startsWith(QLatin1String("resources/manual/"))) continue;
      const QString page = path.mid(QStringLiteral("resources/manual/").size());
      QVERIFY2(reached.contains(page), qPrintable(page));
    }
    QVERIFY(reached.size() > 25);
  }

  void linksLeadSomewhere_data() { addTexts(); }
  void linksLeadSomewhere() {
    QFETCH(QString, path);
    QStringList docks{QStringLiteral("canvas")};
    for (const ViewInfo& info : viewTable()) docks.append(info.id);
    const QString folder = QFileInfo(path).path();
    for (const Link& link : linksOf(path)) {
      const QString scheme = link.target.section(QLatin1Char(':'), 0, 0);
      const QString rest = link.target.section(QLatin1Char(':'), 1);
      if (scheme == QLatin1String("https")) continue;
      if (scheme == QLatin1String("dock")) {
        QVERIFY2(docks.contains(rest), qPrintable(link.target));
      } else if (scheme == QLatin1String("command")) {
        QVERIFY2(findCommand(rest) != nullptr, qPrintable(link.target));
      } else if (scheme == QLatin1String("example")) {
        QVERIFY2(QFileInfo::exists(kSource + QStringLiteral("/resources/queries/") + rest),
                 qPrintable(link.target));
      } else {
        QVERIFY2(scheme == link.target, qPrintable(link.target));  // nothing else is followed
        const QString file = link.target.section(QLatin1Char('#'), 0, 0);
        const QString anchor = link.target.section(QLatin1Char('#'), 1);
        const QString target = file.isEmpty() ? path : QDir::cleanPath(folder + QLatin1Char('/') + file);
        QVERIFY2(QFileInfo::exists(kSource + QLatin1Char('/') + target), qPrintable(link.target));
        if (!anchor.isEmpty()) QVERIFY2(anchorsOf(target).contains(anchor), qPrintable(link.target));
        // The window shows its own pages only.
        if (path.startsWith(QLatin1String("resources/manual/")) && !link.isPicture)
          QVERIFY2(target.startsWith(QLatin1String("resources/manual/")), qPrintable(link.target));
      }
    }
  }

  /// "[**Run, Servers…**](command:run.servers)" names the menu and the text of the command, or its key.
  void commandsAreCalledByTheirNames_data() { addTexts(); }
  void commandsAreCalledByTheirNames() {
    QFETCH(QString, path);
    static const QRegularExpression link(QStringLiteral("\\[\\*\\*([^*\\]]+)\\*\\*\\]\\(command:([^)]+)\\)"));
    const QString text = proseOf(path).join(QLatin1Char(' '));
    for (auto found = link.globalMatch(text); found.hasNext();) {
      const QRegularExpressionMatch match = found.next();
      const CommandInfo* info = findCommand(match.captured(2));
      QVERIFY2(info != nullptr, qPrintable(match.captured(2)));
      QStringList names{categoryTitle(info->category) + QStringLiteral(", ") + info->text};
      for (const QString& key : info->keys) names += key;
      QVERIFY2(names.contains(match.captured(1)),
               qPrintable(match.captured(1) + QStringLiteral(" is ") + names.join(QStringLiteral(" or "))));
    }
  }

  /// "**Run, Servers…**" without a link names a menu and a command of it, too.
  void menusAreCalledByTheirNames_data() { addTexts(); }
  void menusAreCalledByTheirNames() {
    QFETCH(QString, path);
    // Menus within menus, and what a command is called in another state.
    QStringList names{QStringLiteral("View, Docks"), QStringLiteral("View, Canvas"),
                      QStringLiteral("Run, Stop recording")};
    QStringList menus;
    for (const CommandInfo& info : commandTable()) {
      names += categoryTitle(info.category) + QStringLiteral(", ") + info.text;
      menus += QRegularExpression::escape(categoryTitle(info.category));
    }
    menus.removeDuplicates();
    const QRegularExpression bold(
        QStringLiteral("\\*\\*((%1), [^*]+)\\*\\*").arg(menus.join(QLatin1Char('|'))));
    const QString text = proseOf(path).join(QLatin1Char(' '));
    for (auto found = bold.globalMatch(text); found.hasNext();) {
      const QString name = found.next().captured(1).simplified();
      QVERIFY2(names.contains(name), qPrintable(name));
    }
  }

  /// "the [Why dock](docks/why.md)" has the title of the dock.
  void docksAreCalledByTheirNames_data() { addTexts(); }
  void docksAreCalledByTheirNames() {
    QFETCH(QString, path);
    static const QRegularExpression link(QStringLiteral("\\[([^\\]]+) dock\\]\\(([^)#]+)(#[^)]*)?\\)"));
    const QString text = proseOf(path).join(QLatin1Char(' '));
    for (auto found = link.globalMatch(text); found.hasNext();) {
      const QRegularExpressionMatch match = found.next();
      if (!match.captured(2).endsWith(QLatin1String(".md"))) continue;
      const QString id = QFileInfo(match.captured(2)).completeBaseName().section(QLatin1Char(':'), -1);
      const auto info = std::find_if(viewTable().begin(), viewTable().end(),
                                     [&id](const ViewInfo& view) { return view.id == id; });
      QVERIFY2(info != viewTable().end() || id == QLatin1String("canvas"), qPrintable(match.captured()));
      if (info != viewTable().end()) QCOMPARE(match.captured(1).toLower(), info->title.toLower());
    }
  }

  /// A page that is written by the rules begins with the use that a reader has of it.
  void plainPagesBeginWithTheirUse_data() { addPlainPages(); }
  void plainPagesBeginWithTheirUse() {
    QFETCH(QString, path);
    static const QRegularExpression use(
        QStringLiteral("^(After this page you can|From this page you|Use this (page|dock) to) "));
    QString first;
    for (const QString& line : proseOf(path)) {
      if (line.startsWith(QLatin1Char('#')) || (line.isEmpty() && first.isEmpty())) continue;
      if (line.isEmpty()) break;
      first += line + QLatin1Char(' ');
    }
    QVERIFY2(use.match(first).hasMatch(), qPrintable(first));
  }

  /// The paragraph or row that first has an abbreviation spells it out.
  void plainPagesSpellAbbreviationsOut_data() { addPlainPages(); }
  void plainPagesSpellAbbreviationsOut() {
    QFETCH(QString, path);
    const QList<std::pair<QString, QString>> abbreviations{
        {QStringLiteral("TTFT"), QStringLiteral("time to (the )?first token")},
        {QStringLiteral("ITL"), QStringLiteral("inter-token latency|time between two tokens")},
        {QStringLiteral("KL"), QStringLiteral("Kullback")},
        {QStringLiteral("KV"), QStringLiteral("key-value|keys and values")},
        {QStringLiteral("RAG"), QStringLiteral("retrieval-augmented generation")},
        {QStringLiteral("LRU"), QStringLiteral("least recently used")},
        {QStringLiteral("RoPE"), QStringLiteral("rotary position embedding")}};
    const QStringList texts = prosePartsOf(path);
    for (const auto& [abbreviation, meaning] : abbreviations) {
      const QRegularExpression used(QStringLiteral("\\b%1\\b").arg(abbreviation));
      const auto first = std::find_if(texts.begin(), texts.end(),
                                      [&used](const QString& text) { return used.match(text).hasMatch(); });
      if (first == texts.end()) continue;
      const QString sofar = QStringList(texts.begin(), first + 1).join(QLatin1Char(' '));
      QVERIFY2(QRegularExpression(meaning, QRegularExpression::CaseInsensitiveOption).match(sofar).hasMatch(),
               qPrintable(abbreviation + QStringLiteral(": ") + *first));
    }
  }

  /// The first place of a glossary word that is not everyday English leads on: a link, or the word in bold
  /// where the page itself defines it.
  void plainPagesLinkGlossaryWords_data() { addPlainPages(); }
  void plainPagesLinkGlossaryWords() {
    QFETCH(QString, path);
    if (path.endsWith(QLatin1String("glossary.md"))) return;
    const QStringList texts = prosePartsOf(path);
    for (const char* word : {"span quer", "relocated", "block attention", "full prefill", "reuse polic",
                             "span table", "attention sink", "subquery result", "fidelity", "evicted"}) {
      const QString term = QString::fromLatin1(word);
      const auto first = std::find_if(texts.begin(), texts.end(), [&term](const QString& text) {
        return text.contains(term, Qt::CaseInsensitive);
      });
      if (first == texts.end()) continue;
      const QRegularExpression leads(QStringLiteral("(\\[[^\\]]*|\\*\\*[^*]*)%1").arg(term),
                                     QRegularExpression::CaseInsensitiveOption);
      QVERIFY2(leads.match(*first).hasMatch(), qPrintable(term + QStringLiteral(": ") + *first));
    }
  }

  void anchorsAreUnique_data() { addTexts(); }
  void anchorsAreUnique() {
    QFETCH(QString, path);
    QStringList anchors = anchorsOf(path);
    QVERIFY(!anchors.isEmpty());
    QCOMPARE(anchors.removeDuplicates(), 0);
  }

  void everyDockHasItsPage_data() {
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("title");
    QTest::newRow("canvas") << QStringLiteral("canvas") << QStringLiteral("Canvas");
    for (const ViewInfo& info : viewTable()) QTest::newRow(qPrintable(info.id)) << info.id << info.title;
  }
  void everyDockHasItsPage() {
    QFETCH(QString, id);
    QFETCH(QString, title);
    const QString path = QStringLiteral("resources/manual/") + manualPageOfDock(id);
    const QStringList lines = linesOf(path);
    QCOMPARE(lines.value(0), QStringLiteral("# ") + title);
    QVERIFY(lines.join(QLatin1Char('\n')).contains(QStringLiteral("(dock:%1)").arg(id)));
  }

  void everyExampleIsNamed() {
    const QString page = linesOf(QStringLiteral("resources/manual/docks/add.md")).join(QLatin1Char('\n'));
    for (const Example& example : exampleTable())
      QVERIFY2(page.contains(QStringLiteral("(example:%1)").arg(example.file)), qPrintable(example.file));
  }

  /// What looks like the id of a command is one.
  void commandsExist_data() { addTexts(); }
  void commandsExist() {
    QFETCH(QString, path);
    static const QRegularExpression id(QStringLiteral("^(file|edit|node|run|view|help)\\.[a-z-]+$"));
    for (const QString& piece : codeOf(path)) {
      if (id.match(piece).hasMatch()) QVERIFY2(findCommand(piece) != nullptr, qPrintable(piece));
    }
  }

  /// What lessons call a dock or a command is one of the window's.
  void lessonsNameWhatTheWindowHas() {
    QStringList docks{QStringLiteral("canvas")};
    for (const ViewInfo& info : viewTable()) docks.append(info.id);
    QStringList named;
    for (const std::string_view name : spanscope::lesson::dockNames())
      named.append(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
    docks.sort();
    named.sort();
    QCOMPARE(named, docks);
    for (const std::string_view name : spanscope::lesson::layoutNames()) {
      const QString id =
          QStringLiteral("view.") + QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
      QVERIFY2(findCommand(id) != nullptr, qPrintable(id));
    }
    for (const spanscope::lesson::ActionInfo& info : spanscope::lesson::actions()) {
      if (*info.command != '\0')
        QVERIFY2(findCommand(QString::fromUtf8(info.command)) != nullptr, info.command);
    }
  }

  /// Every key of the window and the canvas is on its page.
  void everyCommandWithAKeyIsNamed() {
    const QStringList named = codeOf(QStringLiteral("resources/manual/window.md")) +
                              codeOf(QStringLiteral("resources/manual/docks/canvas.md")) +
                              codeOf(QStringLiteral("resources/manual/docks/scrubber.md"));
    for (const CommandInfo& info : commandTable()) {
      if (!info.keys.isEmpty()) QVERIFY2(named.contains(info.id), qPrintable(info.id));
    }
  }

  /// The list of events is whole, and what numbers come from is on it.
  void eventsExist() {
    static const QRegularExpression name(QStringLiteral("kName = \"(\\w+)\";"));
    QStringList events;
    const QString folder = QStringLiteral("engine/trace/event_rows");
    for (const QString& file : QDir(kSource + QLatin1Char('/') + folder).entryList({QStringLiteral("*.h")})) {
      const QString rows = linesOf(folder + QLatin1Char('/') + file).join(QLatin1Char('\n'));
      for (auto found = name.globalMatch(rows); found.hasNext();) events.append(found.next().captured(1));
    }
    QVERIFY(events.size() > 20);
    const QStringList listed = codeOf(QStringLiteral("resources/manual/architecture.md"));
    for (const QString& event : events) QVERIFY2(listed.contains(event), qPrintable(event));
    static const QRegularExpression form(QStringLiteral("^[a-z]+(_[a-z]+)+$"));
    for (const QString& piece : codeOf(QStringLiteral("resources/manual/numbers.md"))) {
      if (form.match(piece).hasMatch()) QVERIFY2(events.contains(piece), qPrintable(piece));
    }
  }

  void filesToAddInExist() {
    static const QRegularExpression place(
        QStringLiteral("^(app|engine|kernels|ui|tests|resources|packaging|\\.github)/[\\w./-]*$"));
    int found = 0;
    for (const QString& piece : codeOf(QStringLiteral("resources/manual/adding.md"))) {
      if (!place.match(piece).hasMatch()) continue;
      QVERIFY2(QFileInfo::exists(kSource + QLatin1Char('/') + piece) ||
                   piece.startsWith(QLatin1String("resources/translations/")),
               qPrintable(piece));
      ++found;
    }
    QVERIFY(found > 40);
  }

  void pagesNameNoPlacesOfAMachine_data() { addTexts(); }
  void pagesNameNoPlacesOfAMachine() {
    QFETCH(QString, path);
    const QString text = linesOf(path).join(QLatin1Char('\n'));
    for (const char* place : {"/home/", "/tmp/", "/root/"})
      QVERIFY2(!text.contains(QLatin1String(place)), place);
  }
};

SPANSCOPE_TEST(tst_manual, TestManual)
#include "tst_manual.moc"
