// SPDX-License-Identifier: GPL-3.0-or-later
// What README and manual refer to exists: pages, headings, pictures, docks, commands, examples, files.
#include "engine/lesson/actions.h"
#include "tests/support/test_program.h"
#include "ui/commands/command_table.h"
#include "ui/manual/manual_pages.h"
#include "ui/views/common/example_table.h"
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

/// Without what stands in fenced blocks.
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

  /// Every key of the window and the canvas stands on its page.
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
