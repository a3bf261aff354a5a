// SPDX-License-Identifier: GPL-3.0-or-later
// The program as it is started, without a display.
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <unistd.h>

#include <functional>

namespace {

struct Outcome {
  int code = -1;
  QString out;
  QString err;
};

/// `prepare` is called in the program's process before it begins. `platform`: as a user may choose it; none:
/// neither that nor a display.
Outcome start(const QStringList& arguments, const std::function<void()>& prepare = {},
              const QString& platform = {}) {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    environment.remove(QString::fromLatin1(name));
  if (!platform.isEmpty()) environment.insert(QStringLiteral("QT_QPA_PLATFORM"), platform);
  QProcess process;
  process.setProcessEnvironment(environment);
  if (prepare) process.setChildProcessModifier(prepare);
  process.start(QStringLiteral(SPANSCOPE_PROGRAM), arguments);
  if (!process.waitForFinished(120'000)) return {};
  return {.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          .out = QString::fromUtf8(process.readAllStandardOutput()),
          .err = QString::fromUtf8(process.readAllStandardError())};
}

}  // namespace

class TestProgram : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysItsVersion() {
    const Outcome outcome = start({QStringLiteral("--version")});
    QCOMPARE(outcome.code, 0);
    QVERIFY(outcome.out.startsWith(QStringLiteral("spanscope ")));
  }

  void saysThatItsOutputIsLost() {
    for (const char* option : {"--version", "--help"}) {
      const auto into = [option](const std::function<void()>& prepare) {
        return start({QString::fromLatin1(option)}, prepare);
      };
      const Outcome closed = into([] { ::close(STDOUT_FILENO); });
      QCOMPARE(closed.code, 3);
      QVERIFY2(closed.err.contains(QStringLiteral("standard output")), qPrintable(closed.err));
      QCOMPARE(into([] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); }).code, 3);
    }
  }

  void saysThatThereIsNoDisplay() {
    const Outcome outcome = start({});
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains(QStringLiteral("no display")), qPrintable(outcome.err));
  }

  void takesPictures() {
    const QTemporaryDir folder;
    const Outcome outcome = start(
        {QStringLiteral("--screenshot"), QStringLiteral("explain"), QStringLiteral("--theme"),
         QStringLiteral("dark"), QStringLiteral("--size"), QStringLiteral("1000x700"), QStringLiteral("-o"),
         folder.path(), QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json")});
    QCOMPARE(outcome.code, 0);
    QVERIFY2(!outcome.err.contains(QStringLiteral("propagateSizeHints")), qPrintable(outcome.err));
    const QImage image(folder.filePath(QStringLiteral("explain-dark-1000x700.png")));
    QCOMPARE(image.size(), QSize(1000, 700));
    // The whole of it on one pixel is its mean.
    const int mean =
        image.scaled(1, 1, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).pixelColor(0, 0).lightness();
    QVERIFY2(mean < 80, qPrintable(QString::number(mean)));
  }

  /// A picture of a benchmark is one of figures, not of the promise to measure.
  void measuresForAPicture() {
    const QTemporaryDir folder;
    const Outcome outcome = start(
        {QStringLiteral("--screenshot"), QStringLiteral("benchmark"), QStringLiteral("--theme"),
         QStringLiteral("light"), QStringLiteral("--size"), QStringLiteral("800x480"), QStringLiteral("-o"),
         folder.path(), QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json")});
    QCOMPARE(outcome.code, 0);
    const QImage image(folder.filePath(QStringLiteral("benchmark-light-800x480.png")));
    QCOMPARE(image.size(), QSize(800, 480));
    // The names of the cases are under the plot, at the lower edge.
    int inked = 0;
    for (int y = 440; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) inked += image.pixelColor(x, y).lightness() < 200 ? 1 : 0;
    }
    QVERIFY2(inked > 200, qPrintable(QString::number(inked)));
  }

  /// A picture of a presented lesson has the requested size, and not the size of the screen.
  void takesPicturesOfAPresentation() {
    const QTemporaryDir folder;
    const QString lesson = folder.filePath(QStringLiteral("one.md"));
    QFile file(lesson);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("---\ntitle: One\nminutes: 1\nafter: one\n---\n\n## 1. One\n\nOne.\n");
    file.close();
    const Outcome outcome =
        start({QStringLiteral("--screenshot"), QStringLiteral("presentation"), QStringLiteral("--theme"),
               QStringLiteral("light"), QStringLiteral("--size"), QStringLiteral("853x480"),
               QStringLiteral("-o"), folder.path(), lesson});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
    const QImage image(folder.filePath(QStringLiteral("one-01-01-light-853x480.png")));
    QCOMPARE(image.size(), QSize(853, 480));
  }

  /// A log of requests is diagnosed before the picture is taken.
  void takesPicturesOfADiagnosedLog() {
    const QTemporaryDir folder;
    const QString log = folder.filePath(QStringLiteral("log.jsonl"));
    QFile file(log);
    QVERIFY(file.open(QIODevice::WriteOnly));
    for (int minute = 10; minute < 40; ++minute) {
      file.write("{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"It is 14:" +
                 QByteArray::number(minute) +
                 ". You are a travel assistant. Name your sources in each answer.\"},"
                 "{\"role\":\"user\",\"content\":\"Which train leaves for Porto?\"}]}\n");
    }
    file.close();
    const auto pictureOf = [&folder](const QString& shown, const QStringList& files) {
      const QString place = folder.filePath(shown);
      const Outcome outcome =
          start(QStringList{QStringLiteral("--screenshot"), QStringLiteral("diagnose"),
                            QStringLiteral("--theme"), QStringLiteral("light"), QStringLiteral("--size"),
                            QStringLiteral("1024x700"), QStringLiteral("-o"), place} +
                files);
      if (outcome.code != 0) qWarning("%s", qPrintable(outcome.err));
      return QImage(place + QStringLiteral("/diagnose-light-1024x700.png"));
    };
    const QImage with = pictureOf(QStringLiteral("with"), {log});
    QCOMPARE(with.size(), QSize(1024, 700));
    const QImage without = pictureOf(QStringLiteral("without"), {});
    QCOMPARE(without.size(), with.size());
    int changed = 0;
    for (int y = 0; y < with.height(); ++y) {
      for (int x = 0; x < with.width(); ++x) changed += with.pixel(x, y) != without.pixel(x, y) ? 1 : 0;
    }
    // The table of requests and the bars of their costs.
    QVERIFY2(changed > 5000, qPrintable(QString::number(changed)));
  }

  /// A page has a picture of what each step shows, in both themes, and nothing beside it is needed.
  void writesLessonPages() {
    const QTemporaryDir folder;
    const QString lesson = QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/lessons/5-relocation.md");
    const Outcome outcome =
        start({QStringLiteral("--lesson-pages"), QStringLiteral("-o"), folder.path(), lesson});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
    QFile file(folder.filePath(QStringLiteral("5-relocation.html")));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray page = file.readAll();
    QVERIFY2(page.size() < 5'000'000, qPrintable(QString::number(page.size())));
    QVERIFY(page.count("<figure class=\"view\">") >= 3);
    QCOMPARE(page.count("(prefers-color-scheme: dark)\" srcset"), page.count("<figure class=\"view\">"));
    // The block table of the step that moves two documents has the rows of its two runs, and relocated
    // blocks.
    const qsizetype step = page.indexOf("id=\"step-6\"");
    const QByteArray mark("src=\"data:image/svg+xml;base64,");
    const qsizetype begin = page.indexOf(mark, step) + mark.size();
    const QByteArray svg = QByteArray::fromBase64(page.mid(begin, page.indexOf('"', begin) - begin));
    QVERIFY(svg.contains("Run 2") && !svg.contains("Run 3"));
    QVERIFY(svg.contains("#1667b8"));
  }

  void lessonPagesNeedLessons() {
    const QTemporaryDir folder;
    const Outcome none = start({QStringLiteral("--lesson-pages"), QStringLiteral("-o"), folder.path()});
    QCOMPARE(none.code, 2);
    QVERIFY2(none.err.contains(QStringLiteral("lessons")), qPrintable(none.err));
    const Outcome query = start({QStringLiteral("--lesson-pages"), QStringLiteral("-o"), folder.path(),
                                 QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json")});
    QCOMPARE(query.code, 2);
    QVERIFY2(query.err.contains(QStringLiteral("rag.json")), qPrintable(query.err));
    QVERIFY(QDir(folder.path()).isEmpty());
  }

  void saysWhichPicturesThereAre() {
    const QTemporaryDir folder;
    const Outcome outcome = start(
        {QStringLiteral("--screenshot"), QStringLiteral("nothing"), QStringLiteral("-o"), folder.path()});
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains(QStringLiteral("attention")), qPrintable(outcome.err));
  }

  void refusesWhatItCannotDo_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("named");
    const QStringList picture{QStringLiteral("--screenshot"), QStringLiteral("welcome")};
    const auto row = [](const char* name, const QStringList& arguments, const char* named) {
      QTest::newRow(name) << arguments << QString::fromLatin1(named);
    };
    row("unknown theme", picture + QStringList{QStringLiteral("--theme"), QStringLiteral("blue")}, "--theme");
    for (const char* size :
         {"1000", "1000x", "01000x700", "+1000x700", "1000x700x2", "100x100", "99999x700"}) {
      row(size, picture + QStringList{QStringLiteral("--size"), QString::fromLatin1(size)}, "--size");
    }
    row("a file that is not there", picture + QStringList{QStringLiteral("/nowhere/at-all.span")},
        "at-all.span");
    row("size of no picture", {QStringLiteral("--exit-after-startup"), QStringLiteral("--size=1000x700")},
        "--size");
    row("folder for no picture",
        {QStringLiteral("--exit-after-startup"), QStringLiteral("-o"), QStringLiteral("/")}, "--output");
  }

  void refusesWhatItCannotDo() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, named);
    const Outcome outcome = start(arguments, {}, QStringLiteral("offscreen"));
    QCOMPARE(outcome.code, 2);
    // Qt may have had something to say of its surroundings before.
    const QStringList lines = outcome.err.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QVERIFY(!lines.isEmpty());
    QVERIFY2(lines.last().startsWith(QStringLiteral("spanscope: ")) && lines.last().contains(named),
             qPrintable(outcome.err));
  }
};

SPANSCOPE_TEST(tst_program, TestProgram, QCoreApplication)
#include "tst_program.moc"
