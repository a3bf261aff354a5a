// SPDX-License-Identifier: GPL-3.0-or-later
// Holds pictures to the golden ones beside this file, in both themes, and shows that what matters would be
// found. See tests/support/golden_picture.h for how to write golden pictures and to see differences.
#include "engine/workbench/document/edits.h"
#include "tests/support/golden_picture.h"
#include "tests/support/picture_compare.h"
#include "tests/support/pinned_platform.h"
#include "tests/ui/pictures/picture_scene.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/window/canvas_picture.h"

#include <QApplication>
#include <QPainter>
#include <QProcess>
#include <QtTest>

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

enum class Scene {
  Example,          ///< pictureScene()
  TwentyDocuments,  ///< twentyDocuments(), with one of them selected
  TwentyCards,      ///< twentyDocumentsScene()
};

/// One line a picture: its name, and "canvas" or the id of a view of viewTable().
struct Picture {
  const char* name;
  const char* id;
  QSize size;
  Scene scene = Scene::Example;
};
const std::vector<Picture> kPictures{
    {"canvas", "canvas", {640, 480}},
    {"attention-narrow", "attention", {400, 340}, Scene::TwentyDocuments},
    {"attention-wide", "attention", {760, 520}, Scene::TwentyDocuments},
    {"canvas-20-documents", "canvas", {900, 560}, Scene::TwentyCards},
};
constexpr std::size_t kAttentionWide = 2;

ViewInput sceneOf(Scene scene) {
  if (scene == Scene::Example) return test::pictureScene();
  if (scene == Scene::TwentyCards) return test::twentyDocumentsScene();
  ViewInput input = test::twentyDocuments();
  input.selection.nodes = {input.nodeOf(1, "/g/input/cross/1/plus/12")};
  return input;
}

ExportItem itemOf(const Picture& picture, const ViewInput& input) {
  if (picture.id == QLatin1String("canvas")) return canvasItem(input, picture.size);
  for (const ViewInfo& info : viewTable()) {
    if (info.id == QLatin1String(picture.id)) return exportItem(info, input, picture.size);
  }
  qFatal("there is no view \"%s\"", picture.id);
}

QImage render(const Picture& picture, const ViewInput& input, Scheme scheme) {
  return renderItem(itemOf(picture, input), picture.size, Theme(scheme));
}

QString nameOf(const Picture& picture, Scheme scheme) {
  return QLatin1String(picture.name) +
         (scheme == Scheme::Dark ? QStringLiteral("-dark") : QStringLiteral("-light"));
}

QString goldenOf(const Picture& picture, Scheme scheme) {
  return QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/ui/pictures/golden/%1.png").arg(nameOf(picture, scheme));
}

// ---- planted faults ----

using Fault = std::function<QImage(const ViewInput&, const Picture&, Scheme)>;

/// The same answer over other documents: what the needed ones had, their neighbours have.
QImage withOtherShares(const ViewInput& input, const Picture& picture, Scheme scheme) {
  auto trace = std::make_shared<TraceStore>();
  for (trace::Event event : input.trace->events()) {
    if (auto* read = std::get_if<trace::SegmentAttention>(&event.payload)) {
      const std::size_t width = read->keySegments.size();
      for (std::size_t i = 0; i < read->mass.size(); i += width)
        std::swap(read->mass[i + test::kFirstNeeded], read->mass[i + test::kFirstNeeded + 1]);
    }
    trace->append(std::move(event));
  }
  ViewInput other = input;
  other.trace = std::move(trace);
  return render(picture, other, scheme);
}

QImage withoutTheSelection(const ViewInput& input, const Picture& picture, Scheme scheme) {
  ViewInput other = input;
  other.selection = {};
  return render(picture, other, scheme);
}

QImage withoutTheLastDocument(const ViewInput& input, const Picture& picture, Scheme scheme) {
  document::Document document = *input.document;
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join == nullptr || join->kind != query::JoinKind::Plus) continue;
    document::removeSubtrees(document, {document.at(id).children.back()});
    break;
  }
  ViewInput other = input;
  other.document = std::make_shared<const document::Document>(std::move(document));
  return render(picture, other, scheme);
}

/// Every pixel of one colour has the other one, and the other way round.
QImage exchanged(QImage image, const QColor& one, const QColor& other) {
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const QRgb pixel = image.pixel(x, y);
      if (pixel == one.rgb()) image.setPixelColor(x, y, other);
      if (pixel == other.rgb()) image.setPixelColor(x, y, one);
    }
  }
  return image;
}

QImage moved(const QImage& image, const QRect& part, QPoint by) {
  QImage result = image;
  QPainter painter(&result);
  painter.drawImage(part.topLeft() + by, image, part);
  return result;
}

/// As if every channel had been rounded the other way, by turns.
QImage roundedOtherwise(QImage image) {
  image = image.convertToFormat(QImage::Format_RGB32);
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const QRgb pixel = image.pixel(x, y);
      const int by = (x + y) % 2 == 0 ? 1 : -1;
      const auto other = [by](int channel) { return std::clamp(channel + by, 0, 255); };
      image.setPixel(x, y, qRgb(other(qRed(pixel)), other(qGreen(pixel)), other(qBlue(pixel))));
    }
  }
  return image;
}

}  // namespace

class TestPictures : public QObject {
  Q_OBJECT

 private:
  std::map<Scene, ViewInput> m_scenes;

  const ViewInput& sceneFor(const Picture& picture) const { return m_scenes.at(picture.scene); }

  void addSchemes() {
    QTest::addColumn<int>("picture");
    QTest::addColumn<Scheme>("scheme");
    for (std::size_t i = 0; i < kPictures.size(); ++i) {
      for (const Scheme scheme : {Scheme::Light, Scheme::Dark})
        QTest::newRow(qPrintable(nameOf(kPictures[i], scheme))) << static_cast<int>(i) << scheme;
    }
  }

  void addFaults() {
    QTest::addColumn<int>("picture");
    QTest::addColumn<Scheme>("scheme");
    QTest::addColumn<Fault>("fault");
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const char* theme = scheme == Scheme::Light ? "light" : "dark";
      const Theme colors(scheme);
      std::size_t place = 0;
      const auto add = [&](const char* name, Fault fault) {
        QTest::addRow("%s: %s, %s", kPictures[place].name, name, theme)
            << static_cast<int>(place) << scheme << std::move(fault);
      };
      const auto addSwap = [&](const char* name, const QColor& one, const QColor& other) {
        add(name, [one, other](const ViewInput& input, const Picture& picture, Scheme in) {
          return exchanged(render(picture, input, in), one, other);
        });
      };
      const auto addMove = [&](const char* name, const QRect& part, QPoint by) {
        add(name, [part, by](const ViewInput& input, const Picture& picture, Scheme in) {
          const QImage image = render(picture, input, in);
          return moved(image, part.isNull() ? image.rect() : part, by);
        });
      };
      add("a node is missing", withoutTheLastDocument);
      addSwap("hit and relocated are exchanged", colors.ink(BlockRole::Hit),
              colors.ink(BlockRole::Relocated));
      addSwap("the hues of two segments are exchanged", colors.segmentInk(0), colors.segmentInk(1));
      addMove("all stands 3 pixels to the right", {}, {3, 0});
      addMove("all stands 3 pixels lower", {}, {0, 3});
      addMove("one node stands 3 pixels to the right", {16, 140, 167, 56}, {3, 0});
      addMove("one node stands 3 pixels lower", {16, 140, 167, 56}, {0, 3});
      place = kAttentionWide;
      add("the answer looked at another document", withOtherShares);
      add("the selected document is not marked", withoutTheSelection);
      addSwap("the hues of two documents are exchanged", colors.segmentInk(1), colors.segmentInk(2));
      addMove("all stands 3 pixels to the right", {}, {3, 0});
      addMove("the map stands 3 pixels lower", {80, 160, 600, 300}, {0, 3});
    }
  }

 private Q_SLOTS:
  void initTestCase() {
    if (const QString missing = test::missingFonts(); !missing.isEmpty())
      QSKIP(qPrintable(QStringLiteral("pictures need fonts that are not installed: %1").arg(missing)));
    for (const Scene scene : {Scene::Example, Scene::TwentyDocuments, Scene::TwentyCards})
      m_scenes[scene] = sceneOf(scene);
  }

  /// The person who builds this can have them.
  void fontsAreDependencies() {
    QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/packaging/dependencies.txt"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QStringList packages = QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'));
    for (const test::PinnedFont& font : test::pinnedFonts())
      QVERIFY2(packages.contains(font.package), qPrintable(font.package));
  }

  void areAsAccepted_data() { addSchemes(); }
  void areAsAccepted() {
    QFETCH(int, picture);
    QFETCH(Scheme, scheme);
    const Picture& wanted = kPictures[static_cast<std::size_t>(picture)];
    const QString problem =
        test::goldenProblem(render(wanted, sceneFor(wanted), scheme), goldenOf(wanted, scheme));
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
  }

  /// Another process paints the same, pixel by pixel, on a desktop with other wishes.
  void areTheSameInAnotherProcess_data() { addSchemes(); }
  void areTheSameInAnotherProcess() {
    QFETCH(int, picture);
    QFETCH(Scheme, scheme);
    const Picture& wanted = kPictures[static_cast<std::size_t>(picture)];
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("other.png"));
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
                  {QStringLiteral("--render"), nameOf(wanted, scheme), path});
    QVERIFY(process.waitForFinished(60'000));
    QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
    const QImage here = render(wanted, sceneFor(wanted), scheme).convertToFormat(QImage::Format_ARGB32);
    QVERIFY(QImage(path).convertToFormat(QImage::Format_ARGB32) == here);
  }

  void plantedFaultsAreFound_data() { addFaults(); }
  void plantedFaultsAreFound() {
    QFETCH(Scheme, scheme);
    QFETCH(Fault, fault);
    QFETCH(int, picture);
    const Picture& shown = kPictures[static_cast<std::size_t>(picture)];
    const QImage expected = render(shown, sceneFor(shown), scheme);
    const test::PictureComparison comparison =
        test::comparePictures(expected, fault(sceneFor(shown), shown, scheme));
    qInfo("%s", qPrintable(test::comparisonText(comparison)));
    QVERIFY(!comparison.areAlike());
    QVERIFY(!comparison.faults.empty());
    // Not by a hair: another limit would find them as well.
    QVERIFY(comparison.worst > 5 * test::kTileLimit);
  }

  void anotherRoundingIsNoFault() {
    const QImage image = render(kPictures.front(), sceneFor(kPictures.front()), Scheme::Light);
    const test::PictureComparison comparison = test::comparePictures(image, roundedOtherwise(image));
    QVERIFY2(comparison.areAlike(), qPrintable(test::comparisonText(comparison)));
    QVERIFY(comparison.worst > 0 && comparison.worst <= 1);
  }

  void goldenPicturesAreHeld() {
    const QTemporaryDir folder;
    const QString golden = folder.filePath(QStringLiteral("golden/one.png"));
    const QImage image = render(kPictures.front(), sceneFor(kPictures.front()), Scheme::Light);
    qputenv("SPANSCOPE_PICTURE_DIFFERENCES", QFile::encodeName(folder.filePath(QStringLiteral("seen"))));
    const bool writes = !qEnvironmentVariableIsEmpty("SPANSCOPE_WRITE_GOLDEN");
    const QByteArray before = qgetenv("SPANSCOPE_WRITE_GOLDEN");
    qunsetenv("SPANSCOPE_WRITE_GOLDEN");
    QVERIFY(test::goldenProblem(image, golden).contains(QStringLiteral("SPANSCOPE_WRITE_GOLDEN")));
    QVERIFY(!QFile::exists(golden));
    qputenv("SPANSCOPE_WRITE_GOLDEN", "1");
    QCOMPARE(test::goldenProblem(image, golden), QString());
    qunsetenv("SPANSCOPE_WRITE_GOLDEN");
    QCOMPARE(test::goldenProblem(image, golden), QString());
    const QString problem = test::goldenProblem(moved(image, image.rect(), {3, 0}), golden);
    QVERIFY2(problem.startsWith(QStringLiteral("one ")) && problem.contains(QStringLiteral(" at (")),
             qPrintable(problem));
    QCOMPARE(QImage(folder.filePath(QStringLiteral("seen/one-difference.png"))).size(), image.size());
    QCOMPARE(QImage(folder.filePath(QStringLiteral("seen/one-found.png"))).size(), image.size());
    QVERIFY(test::goldenProblem(image.copy(0, 0, 100, 80), golden).contains(QStringLiteral("100 × 80")));
    qunsetenv("SPANSCOPE_PICTURE_DIFFERENCES");
    if (writes) qputenv("SPANSCOPE_WRITE_GOLDEN", before);
  }
};

namespace {

/// `--render NAME FILE`: one picture, for the comparison of processes.
int renderOne(const QString& name, const QString& path) {
  for (const Picture& picture : kPictures) {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      if (nameOf(picture, scheme) == name)
        return render(picture, sceneOf(picture.scene), scheme).save(path) ? 0 : 1;
    }
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const test::PinnedPlatform platform;
  QApplication application(argc, argv);
  test::pinApplication();
  const QStringList arguments = QCoreApplication::arguments();
  if (arguments.size() == 4 && arguments[1] == QLatin1String("--render"))
    return renderOne(arguments[2], arguments[3]);
  QTEST_SET_MAIN_SOURCE_PATH
  TestPictures tests;
  return QTest::qExec(&tests, argc, argv);
}

#include "tst_pictures.moc"
