// SPDX-License-Identifier: GPL-3.0-or-later
// Users who see fewer colours can distinguish states: by a colour that still differs for them, or by a
// visible pattern.
#include "tests/support/test_program.h"
#include "ui/theme/theme.h"
#include "ui/views/common/block_painter.h"

#include <QImage>
#include <QObject>
#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <QSize>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace spanscope::ui;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

/// Two colours that are further apart than this are seen as two: about twice the difference that is just
/// noticeable (2.3, Mahy, Van Eycken, Oosterlinck 1994).
constexpr double kApart = 5;
/// Of inks, the colours of words and thin lines.
constexpr double kInksApart = 10;

struct Vision {
  const char* name;
  Matrix seen;  ///< of linear RGB
};

/// Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision Deficiency,
/// IEEE Transactions on Visualization and Computer Graphics 15 (6), 2009, at severity 1.0.
constexpr std::array<Vision, 4> kVisions{
    {{"usual", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
     {"protanopia",
      {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
     {"deuteranopia",
      {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
     {"tritanopia",
      {{{1.255528, -0.076749, -0.178779},
        {-0.078411, 0.930809, 0.147602},
        {0.004733, 0.691367, 0.303900}}}}}};

constexpr std::array kStates{BlockRole::Free, BlockRole::Hit, BlockRole::Relocated, BlockRole::Computed,
                             BlockRole::Evicted};

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

Triple times(const Matrix& matrix, const Triple& value) {
  Triple result{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) result[row] += matrix[row][column] * value[column];
  }
  return result;
}

/// CIELAB of what is seen, white D65.
Triple lab(const QColor& color, const Vision& vision) {
  constexpr Matrix kToXyz{{{0.4124564, 0.3575761, 0.1804375},
                           {0.2126729, 0.7151522, 0.0721750},
                           {0.0193339, 0.1191920, 0.9503041}}};
  constexpr Triple kWhite{0.95047, 1.0, 1.08883};
  Triple rgb = times(vision.seen, {linear(color.redF()), linear(color.greenF()), linear(color.blueF())});
  for (double& channel : rgb) channel = std::clamp(channel, 0.0, 1.0);
  Triple xyz = times(kToXyz, rgb);
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = xyz[i] / kWhite[i];
    constexpr double kEdge = 6.0 / 29;
    xyz[i] = t > kEdge * kEdge * kEdge ? std::cbrt(t) : t / (3 * kEdge * kEdge) + 4.0 / 29;
  }
  return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

/// Euclidean in CIELAB (CIE 1976).
double difference(const QColor& a, const QColor& b, const Vision& vision) {
  const Triple one = lab(a, vision);
  const Triple two = lab(b, vision);
  return std::hypot(one[0] - two[0], one[1] - two[1], one[2] - two[2]);
}

/// Where a painted block shows something over its fill that is seen as such, without its outline.
std::vector<bool> seenShape(const Theme& theme, BlockRole state, const QSize& size, const Vision& vision) {
  QImage image(size, QImage::Format_RGB32);
  image.fill(theme.color(Role::Surface));
  QPainter painter(&image);
  BlockLook look;
  look.role = state;
  BlockPainter(theme).block(painter, QRectF(QPointF(), size), look);
  painter.end();
  constexpr int kOutline = 3;
  std::vector<bool> shape;
  for (int y = kOutline; y < size.height() - kOutline; ++y) {
    for (int x = kOutline; x < size.width() - kOutline; ++x)
      shape.push_back(difference(image.pixelColor(x, y), theme.fill(state), vision) >= kApart);
  }
  return shape;
}

/// The share of places in which one shape shows something and the other does not.
double otherness(const std::vector<bool>& a, const std::vector<bool>& b) {
  double other = 0;
  for (std::size_t i = 0; i < a.size(); ++i) other += a[i] != b[i] ? 1 : 0;
  return other / static_cast<double>(a.size());
}

bool hasPattern(const Theme& theme, BlockRole state) {
  return theme.pattern(state).style() != Qt::NoBrush;
}

}  // namespace

class TestColourVision : public QObject {
  Q_OBJECT

  static void addRows() {
    QTest::addColumn<Scheme>("scheme");
    QTest::addColumn<std::size_t>("vision");
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      for (std::size_t i = 0; i < kVisions.size(); ++i)
        QTest::addRow("%s, %s", scheme == Scheme::Light ? "light" : "dark", kVisions[i].name) << scheme << i;
    }
  }

 private Q_SLOTS:
  /// The measure itself: what protanopes confuse is near for them alone, and greys stay greys.
  void theSimulationIsOne() {
    const QColor red(0xC0, 0x20, 0x20);
    const QColor olive(0x58, 0x58, 0x10);
    QVERIFY(difference(red, olive, kVisions[0]) > 3 * difference(red, olive, kVisions[1]));
    for (const Vision& vision : kVisions) {
      for (const int level : {0, 60, 128, 255}) {
        const QColor grey(level, level, level);
        const Triple seen = lab(grey, vision);
        QVERIFY(std::hypot(seen[1], seen[2]) < 1);
        QVERIFY(std::abs(seen[0] - lab(grey, kVisions[0])[0]) < 1);
      }
    }
  }

  void inksAreApart_data() { addRows(); }
  void inksAreApart() {
    QFETCH(Scheme, scheme);
    QFETCH(std::size_t, vision);
    const Theme theme(scheme);
    for (const BlockRole a : kStates) {
      for (const BlockRole b : kStates) {
        if (a >= b) continue;
        const double apart = difference(theme.ink(a), theme.ink(b), kVisions[vision]);
        QVERIFY2(apart >= kInksApart,
                 qPrintable(QStringLiteral("%1 and %2: %3").arg(Theme::name(a), Theme::name(b)).arg(apart)));
      }
    }
  }

  void fillsAreApartOrHavePatterns_data() { addRows(); }
  void fillsAreApartOrHavePatterns() {
    QFETCH(Scheme, scheme);
    QFETCH(std::size_t, vision);
    const Theme theme(scheme);
    for (const BlockRole a : kStates) {
      for (const BlockRole b : kStates) {
        if (a >= b || hasPattern(theme, a) || hasPattern(theme, b)) continue;
        const double apart = difference(theme.fill(a), theme.fill(b), kVisions[vision]);
        QVERIFY2(apart >= kApart,
                 qPrintable(QStringLiteral("%1 and %2: %3").arg(Theme::name(a), Theme::name(b)).arg(apart)));
      }
    }
  }

  /// Patterns are painted, are seen over their fill, and are others for each state.
  void patternsAreSeen_data() { addRows(); }
  void patternsAreSeen() {
    QFETCH(Scheme, scheme);
    QFETCH(std::size_t, vision);
    const Theme theme(scheme);
    for (const QSize& size : {QSize(50, 34), QSize(24, 24)}) {
      for (const BlockRole a : kStates) {
        const std::vector<bool> shape = seenShape(theme, a, size, kVisions[vision]);
        const bool shows = std::find(shape.begin(), shape.end(), true) != shape.end();
        QVERIFY2(shows == hasPattern(theme, a), qPrintable(Theme::name(a)));
        for (const BlockRole b : kStates) {
          if (a >= b || (!hasPattern(theme, a) && !hasPattern(theme, b))) continue;
          const double other = otherness(shape, seenShape(theme, b, size, kVisions[vision]));
          QVERIFY2(
              other >= 0.05,
              qPrintable(QStringLiteral("%1 and %2: %3").arg(Theme::name(a), Theme::name(b)).arg(other)));
        }
      }
    }
  }
};

SPANSCOPE_TEST(tst_colour_vision, TestColourVision, QApplication)
#include "tst_colour_vision.moc"
