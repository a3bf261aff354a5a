// SPDX-License-Identifier: GPL-3.0-or-later
// Holds pictures to the golden ones beside this file, in both themes, and shows that what matters would be
// found. See tests/support/golden_picture.h for how to write golden pictures and to see differences.
#include "tests/support/golden_picture.h"
#include "tests/support/picture_compare.h"
#include "tests/support/pinned_platform.h"
#include "tests/ui/pictures/picture_table.h"
#include "tests/ui/pictures/planted_faults.h"
#include "ui/views/view.h"

#include <QApplication>
#include <QByteArray>
#include <QCoreApplication>
#include <QDebug>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::test;
using ui::Scheme;
using ui::Theme;
using ui::ViewInput;

namespace {

QString goldenOf(const Picture& picture, Scheme scheme) {
  return QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/ui/pictures/golden/%1.png")
      .arg(pictureName(picture, scheme));
}

/// A picture as it should be, and what it was made from.
struct Accepted {
  const Picture& picture;
  const ViewInput& input;
  Scheme scheme;
  const QImage& image;
};

/// The picture with something wrong.
using Fault = std::function<QImage(const Accepted&)>;

Fault painted(std::function<QImage(const QImage&, const Theme&)> change) {
  return [change = std::move(change)](const Accepted& accepted) {
    return change(accepted.image, Theme(accepted.scheme));
  };
}

Fault shown(std::function<ViewInput(const ViewInput&)> change) {
  return [change = std::move(change)](const Accepted& accepted) {
    return renderPicture(accepted.picture, change(accepted.input), accepted.scheme);
  };
}

/// Faults of painting that any picture must show.
const std::vector<std::pair<const char*, Fault>>& paintedFaults() {
  constexpr QSize kPart{96, 32};
  static const std::vector<std::pair<const char*, Fault>> faults{
      {"all stands 3 pixels to the right", painted([](const QImage& image, const Theme&) {
         return moved(image, image.rect(), {3, 0});
       })},
      {"all stands 3 pixels lower", painted([](const QImage& image, const Theme&) {
         return moved(image, image.rect(), {0, 3});
       })},
      {"a part stands 3 pixels lower", painted([](const QImage& image, const Theme&) {
         return moved(image, busiestPart(image, kPart), {0, 3});
       })},
      {"a part is missing",
       painted([](const QImage& image, const Theme&) { return without(image, busiestPart(image, kPart)); })},
      {"an ink is another one", painted([](const QImage& image, const Theme& theme) {
         return withAnotherInk(image, busiestPart(image, kPart), theme.color(ui::Role::Error));
       })},
  };
  return faults;
}

struct ShownFault {
  const char* picture;
  const char* name;
  Fault fault;
};

/// Another shown thing, by the pictures that must show the change.
const std::vector<ShownFault>& shownFaults() {
  static const std::vector<ShownFault> faults{
      {"canvas", "a node is missing", shown(withoutTheLastDocument)},
      {"canvas-20-documents", "a node is missing", shown(withoutTheLastDocument)},
      {"json-wide", "a node is missing", shown(withoutTheLastDocument)},
      {"attention-wide", "the answer looked at another document", shown(withOtherShares)},
      {"attention-wide", "the selected document is not marked", shown(withoutTheSelection)},
      {"inspector-wide", "nothing is selected", shown(withoutTheSelection)},
      {"tokens-wide", "the selected block is not marked", shown(withoutTheSelection)},
      {"block-table-wide", "the selected block is not marked", shown(withoutTheSelection)},
      {"pool-wide", "the selected block is not marked", shown(withoutTheSelection)},
      {"why-wide", "nothing is selected", shown(withoutTheSelection)},
      {"metrics-wide", "the first token took twice as long", shown(withOtherLatency)},
      {"compare-wide", "the first token took twice as long", shown(withOtherLatency)},
      {"output-wide", "the first token took twice as long", shown(withOtherLatency)},
      {"benchmark-wide", "the swapped order took as long as computing all", shown(withSlowSwaps)},
      {"benchmark-wide", "two cases are exchanged", shown(withExchangedCases)},
      {"timeline-wide", "a run is missing", shown(withoutTheLastRun)},
      {"plan-steps", "no run is there", shown(withoutEvents)},
      {"log-wide", "a run is missing", shown(withoutTheLastRun)},
      {"scrubber-wide", "a run is missing", shown(withoutTheLastRun)},
      {"block-table-20-documents", "a run is missing", shown(withoutTheLastRun)},
      {"passages-wide", "a run is missing", shown(withoutTheLastRun)},
  };
  return faults;
}

}  // namespace

class TestPictures : public QObject {
  Q_OBJECT

 private:
  std::map<Scene, ViewInput> m_scenes;
  std::map<QString, QImage> m_images;          ///< by name, as they were painted first
  std::unique_ptr<QTemporaryDir> m_elsewhere;  ///< all pictures as another process paints them

  const ViewInput& sceneFor(const Picture& picture) const { return m_scenes.at(picture.scene); }

  const QImage& imageOf(const Picture& picture, Scheme scheme) {
    QImage& image = m_images[pictureName(picture, scheme)];
    if (image.isNull()) image = renderPicture(picture, sceneFor(picture), scheme);
    return image;
  }

  void addPictures() {
    QTest::addColumn<int>("picture");
    QTest::addColumn<Scheme>("scheme");
    for (std::size_t i = 0; i < pictureTable().size(); ++i) {
      for (const Scheme scheme : {Scheme::Light, Scheme::Dark})
        QTest::newRow(qPrintable(pictureName(pictureTable()[i], scheme))) << static_cast<int>(i) << scheme;
    }
  }

  void addFaults() {
    QTest::addColumn<int>("picture");
    QTest::addColumn<Scheme>("scheme");
    QTest::addColumn<Fault>("fault");
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const auto add = [scheme](std::size_t picture, const char* name, const Fault& fault) {
        QTest::addRow("%s: %s", qPrintable(pictureName(pictureTable()[picture], scheme)), name)
            << static_cast<int>(picture) << scheme << fault;
      };
      for (std::size_t i = 0; i < pictureTable().size(); ++i) {
        for (const auto& [name, fault] : paintedFaults()) add(i, name, fault);
      }
      for (const ShownFault& fault : shownFaults())
        add(pictureIndex(QString::fromLatin1(fault.picture)), fault.name, fault.fault);
      add(pictureIndex(QStringLiteral("canvas")), "hit and relocated are exchanged",
          painted([](const QImage& image, const Theme& theme) {
            return exchanged(image, theme.ink(ui::BlockRole::Hit), theme.ink(ui::BlockRole::Relocated));
          }));
      add(pictureIndex(QStringLiteral("attention-wide")), "the hues of two documents are exchanged",
          painted([](const QImage& image, const Theme& theme) {
            return exchanged(image, theme.segmentInk(1), theme.segmentInk(2));
          }));
    }
  }

 private Q_SLOTS:
  void initTestCase() {
    if (const QString missing = missingFonts(); !missing.isEmpty())
      QSKIP(qPrintable(QStringLiteral("pictures need fonts that are not installed: %1").arg(missing)));
    for (const Picture& picture : pictureTable()) {
      if (!m_scenes.contains(picture.scene)) m_scenes[picture.scene] = sceneOf(picture.scene);
    }
  }

  /// A developer who builds this can have them.
  void fontsAreDependencies() {
    QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/packaging/dependencies.txt"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QStringList packages = QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'));
    for (const PinnedFont& font : pinnedFonts())
      QVERIFY2(packages.contains(font.package), qPrintable(font.package));
  }

  void everyViewHasTwoSizes() {
    std::map<QString, std::set<int>> widths;
    for (const Picture& picture : pictureTable()) widths[picture.id].insert(picture.size.width());
    QVERIFY(widths.at(QStringLiteral("canvas")).size() >= 2);
    for (const ui::ViewInfo& info : ui::viewTable())
      QVERIFY2(widths[info.id].size() >= 2, qPrintable(info.id));
  }

  void areAsAccepted_data() { addPictures(); }
  void areAsAccepted() {
    QFETCH(int, picture);
    QFETCH(Scheme, scheme);
    const Picture& wanted = pictureTable()[static_cast<std::size_t>(picture)];
    const QString problem = goldenProblem(imageOf(wanted, scheme), goldenOf(wanted, scheme));
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
  }

  /// Another process paints the same, pixel by pixel, on a desktop with other wishes.
  void areTheSameInAnotherProcess_data() { addPictures(); }
  void areTheSameInAnotherProcess() {
    QFETCH(int, picture);
    QFETCH(Scheme, scheme);
    if (!m_elsewhere) {
      m_elsewhere = std::make_unique<QTemporaryDir>();
      QProcess process;
      QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
      environment.insert(QStringLiteral("QT_SCALE_FACTOR"), QStringLiteral("2"));
      environment.insert(QStringLiteral("QT_FONT_DPI"), QStringLiteral("144"));
      environment.insert(QStringLiteral("QT_STYLE_OVERRIDE"), QStringLiteral("Windows"));
      environment.insert(QStringLiteral("FONTCONFIG_FILE"), QStringLiteral("/etc/fonts/fonts.conf"));
      environment.insert(QStringLiteral("XDG_CURRENT_DESKTOP"), QStringLiteral("GNOME"));
      environment.insert(QStringLiteral("LANG"), QStringLiteral("de_DE.UTF-8"));
      environment.insert(QStringLiteral("TZ"), QStringLiteral("Asia/Tokyo"));
      process.setProcessEnvironment(environment);
      process.start(QCoreApplication::applicationFilePath(),
                    {QStringLiteral("tst_pictures"), QStringLiteral("--render"), m_elsewhere->path()});
      QVERIFY(process.waitForFinished(240'000));
      QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
    }
    const Picture& wanted = pictureTable()[static_cast<std::size_t>(picture)];
    const QImage there(m_elsewhere->filePath(pictureName(wanted, scheme) + QStringLiteral(".png")));
    QVERIFY(there.convertToFormat(QImage::Format_ARGB32) ==
            imageOf(wanted, scheme).convertToFormat(QImage::Format_ARGB32));
  }

  void plantedFaultsAreFound_data() { addFaults(); }
  void plantedFaultsAreFound() {
    QFETCH(Scheme, scheme);
    QFETCH(Fault, fault);
    QFETCH(int, picture);
    const Picture& wanted = pictureTable()[static_cast<std::size_t>(picture)];
    const QImage& expected = imageOf(wanted, scheme);
    const PictureComparison comparison =
        comparePictures(expected, fault({wanted, sceneFor(wanted), scheme, expected}));
    qInfo("%s", qPrintable(comparisonText(comparison)));
    QVERIFY(!comparison.areAlike());
    QVERIFY(!comparison.faults.empty());
    // Not by a hair: another limit would find them as well.
    QVERIFY(comparison.worst > 5 * kTileLimit);
  }

  void anotherRoundingIsNoFault() {
    const QImage& image = imageOf(pictureTable().front(), Scheme::Light);
    const PictureComparison comparison = comparePictures(image, roundedOtherwise(image));
    QVERIFY2(comparison.areAlike(), qPrintable(comparisonText(comparison)));
    QVERIFY(comparison.worst > 0 && comparison.worst <= 1);
  }

  void goldenPicturesAreHeld() {
    const QTemporaryDir folder;
    const QString golden = folder.filePath(QStringLiteral("golden/one.png"));
    const QImage& image = imageOf(pictureTable().front(), Scheme::Light);
    qputenv("SPANSCOPE_PICTURE_DIFFERENCES", QFile::encodeName(folder.filePath(QStringLiteral("seen"))));
    const bool writes = !qEnvironmentVariableIsEmpty("SPANSCOPE_WRITE_GOLDEN");
    const QByteArray before = qgetenv("SPANSCOPE_WRITE_GOLDEN");
    qunsetenv("SPANSCOPE_WRITE_GOLDEN");
    QVERIFY(goldenProblem(image, golden).contains(QStringLiteral("SPANSCOPE_WRITE_GOLDEN")));
    QVERIFY(!QFile::exists(golden));
    qputenv("SPANSCOPE_WRITE_GOLDEN", "1");
    QCOMPARE(goldenProblem(image, golden), QString());
    qunsetenv("SPANSCOPE_WRITE_GOLDEN");
    QCOMPARE(goldenProblem(image, golden), QString());
    const QString problem = goldenProblem(moved(image, image.rect(), {3, 0}), golden);
    QVERIFY2(problem.startsWith(QStringLiteral("one ")) && problem.contains(QStringLiteral(" at (")),
             qPrintable(problem));
    QCOMPARE(QImage(folder.filePath(QStringLiteral("seen/one-difference.png"))).size(), image.size());
    QCOMPARE(QImage(folder.filePath(QStringLiteral("seen/one-found.png"))).size(), image.size());
    QVERIFY(goldenProblem(image.copy(0, 0, 100, 80), golden).contains(QStringLiteral("100 × 80")));
    qunsetenv("SPANSCOPE_PICTURE_DIFFERENCES");
    if (writes) qputenv("SPANSCOPE_WRITE_GOLDEN", before);
  }
};

namespace {

/// `--render FOLDER`: all pictures, for the comparison of processes.
int renderAll(const QString& folder) {
  std::map<Scene, ViewInput> scenes;
  for (const Picture& picture : pictureTable()) {
    if (!scenes.contains(picture.scene)) scenes[picture.scene] = sceneOf(picture.scene);
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const QString path = QStringLiteral("%1/%2.png").arg(folder, pictureName(picture, scheme));
      if (!renderPicture(picture, scenes.at(picture.scene), scheme).save(path)) return 1;
    }
  }
  return 0;
}

}  // namespace

int tst_pictures(int argc, char** argv);
int tst_pictures(int argc, char** argv) {
  const PinnedPlatform platform;
  QApplication application(argc, argv);
  pinApplication();
  const QStringList arguments = QCoreApplication::arguments();
  if (arguments.size() == 3 && arguments[1] == QLatin1String("--render")) return renderAll(arguments[2]);
  QTEST_SET_MAIN_SOURCE_PATH
  TestPictures tests;
  return QTest::qExec(&tests, argc, argv);
}

#include "tst_pictures.moc"
