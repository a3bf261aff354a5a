// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "ui/theme/theme.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QFile>
#include <QObject>
#include <QRegularExpression>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <array>
#include <cmath>
#include <set>

using namespace spanscope::ui;

namespace {

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

/// Relative luminance and contrast as WCAG 2.1 defines them.
double luminance(const QColor& color) {
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}
double contrast(const QColor& a, const QColor& b) {
  const double one = luminance(a);
  const double two = luminance(b);
  return (std::max(one, two) + 0.05) / (std::min(one, two) + 0.05);
}

}  // namespace

class TestTheme : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void textIsReadable_data() {
    QTest::addColumn<Scheme>("scheme");
    QTest::addColumn<Role>("text");
    QTest::addColumn<Role>("behind");
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const auto add = [scheme](const char* name, Role text, Role behind) {
        QTest::addRow("%s %s", scheme == Scheme::Light ? "light" : "dark", name) << scheme << text << behind;
      };
      for (const Role behind : {Role::Window, Role::Surface, Role::Canvas}) {
        const char* on = behind == Role::Window ? "window" : behind == Role::Surface ? "surface" : "canvas";
        add(qPrintable(QStringLiteral("text on %1").arg(QLatin1String(on))), Role::Text, behind);
        add(qPrintable(QStringLiteral("second text on %1").arg(QLatin1String(on))), Role::TextSecond, behind);
      }
      add("third text on surface", Role::TextThird, Role::Surface);
      add("third text on canvas", Role::TextThird, Role::Canvas);
      add("text on accent", Role::AccentText, Role::Accent);
      add("accent on surface", Role::Accent, Role::Surface);
      add("accent on its fill", Role::Accent, Role::AccentFill);
      add("text on accent fill", Role::Text, Role::AccentFill);
      add("error on surface", Role::Error, Role::Surface);
      add("error on its fill", Role::Error, Role::ErrorFill);
      add("text on evicted", Role::Text, Role::EvictedFill);
      add("text on hit", Role::Text, Role::HitFill);
      add("text on relocated", Role::Text, Role::RelocatedFill);
      add("text on computed", Role::Text, Role::ComputedFill);
    }
  }

  void textIsReadable() {
    QFETCH(Scheme, scheme);
    QFETCH(Role, text);
    QFETCH(Role, behind);
    const Theme theme(scheme);
    const double ratio = contrast(theme.color(text), theme.color(behind));
    QVERIFY2(ratio >= 4.5, qPrintable(QStringLiteral("contrast %1").arg(ratio)));
  }

  /// What is no text but has to be followed by the eye: 3 to 1 (WCAG 2.1, 1.4.11).
  void wiresAreSeen() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      for (const Role behind : {Role::Canvas, Role::Surface})
        QVERIFY(contrast(theme.color(Role::Wire), theme.color(behind)) >= 3);
    }
  }

  void segmentsAreReadable() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      for (std::size_t i = 0; i < kSegmentHues; ++i) {
        QVERIFY(contrast(theme.segmentInk(i), theme.segmentTint(i)) >= 4.5);
        QVERIFY(contrast(theme.color(Role::Text), theme.segmentTint(i)) >= 4.5);
        QVERIFY(contrast(theme.segmentInk(i), theme.color(Role::Surface)) >= 4.5);
        QCOMPARE(theme.segmentInk(i + kSegmentHues), theme.segmentInk(i));
      }
    }
  }

  /// Segments that share a hue differ by the pattern over it.
  void segmentsOfOneHueDiffer() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      QCOMPARE(theme.segmentPattern(kSegmentHues - 1).style(), Qt::NoBrush);
      std::set<QByteArray> shapes;
      for (std::size_t round = 1; round < 4; ++round) {
        const QImage image = theme.segmentPattern(round * kSegmentHues + 2).textureImage();
        QVERIFY(!image.isNull());
        shapes.insert(QByteArray(reinterpret_cast<const char*>(image.constBits()), image.sizeInBytes()));
      }
      QCOMPARE(shapes.size(), std::size_t(3));
    }
  }

  /// States differ without colour: by their names and by the pattern over the fill.
  void statesDifferWithoutColour() {
    const Theme theme;
    const std::array roles{BlockRole::Free, BlockRole::Hit, BlockRole::Relocated, BlockRole::Computed,
                           BlockRole::Evicted};
    std::set<QString> names;
    for (const BlockRole role : roles) names.insert(Theme::name(role));
    QCOMPARE(names.size(), roles.size());
    QCOMPARE(theme.pattern(BlockRole::Hit).style(), Qt::NoBrush);
    const QImage relocated = theme.pattern(BlockRole::Relocated).textureImage();
    const QImage computed = theme.pattern(BlockRole::Computed).textureImage();
    const QImage evicted = theme.pattern(BlockRole::Evicted).textureImage();
    for (const QImage& image : {relocated, computed, evicted}) QVERIFY(!image.isNull());
    const auto shape = [](const QImage& image) { return image.convertToFormat(QImage::Format_Alpha8); };
    QVERIFY(shape(relocated) != shape(computed));
    QVERIFY(shape(relocated) != shape(evicted));
    QVERIFY(shape(computed) != shape(evicted));
  }

  /// Cividis grows lighter all the way, so that it can be read in grey.
  void heatGrowsLighter() {
    double last = -1;
    for (int i = 0; i <= 100; ++i) {
      const double now = luminance(Theme::heat(i / 100.0));
      QVERIFY(now > last);
      last = now;
    }
    QCOMPARE(Theme::heat(-1), Theme::heat(0));
    QCOMPARE(Theme::heat(2), Theme::heat(1));
    QCOMPARE(Theme::heat(std::nan("")), Theme::heat(0));
  }

  void styleSheetIsComplete() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const QString sheet = Theme(scheme).styleSheet();
      // Every word in braces has become a value.
      QVERIFY(!QRegularExpression(QStringLiteral("\\{[a-z]+\\}")).match(sheet).hasMatch());
      for (const QString& icon :
           {QStringLiteral("down"), QStringLiteral("up"), QStringLiteral("close"), QStringLiteral("check")}) {
        const QString folder = scheme == Scheme::Light ? QStringLiteral("light") : QStringLiteral("dark");
        QVERIFY(QFile::exists(QStringLiteral(":/spanscope/controls/%1/%2.svg").arg(folder, icon)));
      }
    }
  }
};

SPANSCOPE_TEST(tst_theme, TestTheme, QCoreApplication)
#include "tst_theme.moc"
