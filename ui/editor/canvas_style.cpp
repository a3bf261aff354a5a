// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_style.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPixmap>
#include <QTextLine>
#include <QTextOption>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

namespace {

QBrush overlay(const QColor& color, BlockRole role) {
  QPixmap tile(6, 6);
  tile.fill(Qt::transparent);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  if (role == BlockRole::Relocated) {
    painter.setPen(QPen(color, 1.4));
    painter.drawLine(QPointF(-1, 7), QPointF(7, -1));
    painter.drawLine(QPointF(-4, 4), QPointF(4, -4));
    painter.drawLine(QPointF(2, 10), QPointF(10, 2));
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(QPointF(3, 3), 1.3, 1.3);
  }
  painter.end();
  return QBrush(tile);
}

}  // namespace

CanvasStyle::CanvasStyle(const Theme& of)
    : theme(of),
      surface(of.color(Role::Surface)),
      canvas(of.color(Role::Canvas)),
      grid(of.color(Role::Grid)),
      outline(of.color(Role::Outline)),
      wire(of.color(Role::Wire)),
      text(of.color(Role::Text)),
      textSecond(of.color(Role::TextSecond)),
      textThird(of.color(Role::TextThird)),
      accent(of.color(Role::Accent)),
      accentFill(of.color(Role::AccentFill)),
      error(of.color(Role::Error)),
      errorFill(of.color(Role::ErrorFill)),
      hit(of.color(Role::HitInk)),
      computed(of.color(Role::ComputedInk)),
      line(of.color(Role::Line)),
      titleFont(of.titleFont()),
      bodyFont(of.interfaceFont()),
      smallFont(of.smallFont()),
      monoFont(of.monoFont()) {
  bodyFont.setPixelSize(12);
  for (QFont* font : {&titleFont, &bodyFont, &smallFont, &monoFont}) {
    // Without hinting, widths of texts change smoothly with the zoom.
    font->setHintingPreference(QFont::PreferNoHinting);
  }
  m_relocatedPattern = overlay(surface, BlockRole::Relocated);
  m_computedPattern = overlay(surface, BlockRole::Computed);
  for (std::size_t i = 0; i < m_segmentPatterns.size(); ++i)
    m_segmentPatterns[i] = theme.segmentPattern(i * kSegmentHues);
}

const QBrush& CanvasStyle::segmentPattern(std::size_t segment) const {
  return m_segmentPatterns[std::min(segment / kSegmentHues, m_segmentPatterns.size() - 1)];
}

QBrush CanvasStyle::servedInk(BlockRole role) const {
  return QBrush(theme.ink(role));
}

QBrush CanvasStyle::servedPattern(BlockRole role) const {
  if (role == BlockRole::Relocated) return m_relocatedPattern;
  if (role == BlockRole::Computed) return m_computedPattern;
  return {};
}

namespace {

constexpr qsizetype kMostCost = 40'000;  ///< max size of the cache, in characters
constexpr qsizetype kTextCost = 40;      ///< min cost of a text, even if it is shorter
constexpr double kUnit = 1.0 / 64;       ///< the unit in which Qt measures texts
/// Pixels for one character. Most texts need more than the first value, and every text needs more than the
/// second.
constexpr std::array kAdvances{5.0, 2.0};

/// Whether all characters are written from left to right.
bool isLeftToRight(const QString& text) {
  return std::none_of(text.begin(), text.end(), [](QChar c) {
    if (c.unicode() < 0x590) return false;
    switch (c.direction()) {
      case QChar::DirL:
      case QChar::DirEN:
      case QChar::DirES:
      case QChar::DirET:
      case QChar::DirCS:
      case QChar::DirWS:
      case QChar::DirON:
      case QChar::DirNSM:
        return c.isSurrogate();
      default:
        return true;
    }
  });
}

}  // namespace

TextSetter::Shaped::Shaped(const QString& text, const QFont& font)
    : layout(text, font), isLeftToRight(ui::isLeftToRight(text)) {
  QTextOption option;
  option.setWrapMode(QTextOption::NoWrap);
  layout.setTextOption(option);
  layout.setCacheEnabled(true);
  layout.beginLayout();
  QTextLine line = layout.createLine();
  // A text from right to left begins at the right end of the line, so the line gets the width of the text.
  if (!isLeftToRight) {
    width = QFontMetricsF(font).horizontalAdvance(text);
    line.setLineWidth(width);
  }
  layout.endLayout();
  if (!line.isValid()) return;
  if (isLeftToRight) width = line.cursorToX(static_cast<int>(text.size()));
  runs = layout.glyphRuns();
}

TextSetter::TextSetter() : m_shaped(kMostCost) {}

const TextSetter::Shaped& TextSetter::shaped(const QString& text, const QFont& font) {
  const std::pair key(font, text);
  if (const Shaped* known = m_shaped.object(key)) return *known;
  auto made = std::make_unique<Shaped>(text, font);
  const Shaped& result = *made;
  m_shaped.insert(key, made.release(), std::min(kMostCost, kTextCost + text.size()));
  return result;
}

TextLine TextSetter::whole(const QString& text, const QFont& font) {
  const Shaped& shape = shaped(text, font);
  return {.text = text, .runs = shape.runs, .width = shape.width};
}

double TextSetter::widthOf(const QString& text, const QFont& font) {
  return text.isEmpty() ? 0 : shaped(text, font).width;
}

TextLine TextSetter::line(const QString& text, const QFont& font, double width) {
  if (text.isEmpty()) return {};
  if (text.size() == 1) return whole(text, font);
  const double room = std::floor(width / kUnit) * kUnit;
  const QString ellipsis(QChar(0x2026));
  const double beforeEllipsis = room - widthOf(ellipsis, font);
  for (const double advance : kAdvances) {
    // Only the part that can be visible is shaped.
    const auto most = static_cast<qsizetype>(std::max(0.0, width) / advance) + 2;
    const bool isAll = text.size() <= most || advance == kAdvances.back();
    const QString seen = isAll ? text : text.left(most);
    if (!isAll && !isLeftToRight(seen)) continue;
    const Shaped& shape = shaped(seen, font);
    if (shape.width <= room) {
      if (isAll) return whole(seen, font);
      continue;
    }
    if (!shape.isLeftToRight) {
      const QString shown = QFontMetricsF(font).elidedText(text, Qt::ElideRight, width);
      return shown.isEmpty() ? TextLine{} : whole(shown, font);
    }
    if (beforeEllipsis < 0) return {};
    const QTextLine line = shape.layout.lineAt(0);
    return whole(seen.left(line.xToCursor(beforeEllipsis, QTextLine::CursorOnCharacter)) + ellipsis, font);
  }
  return {};
}

std::vector<TextLine> TextSetter::lines(const QString& text, const QFont& font, double width, int lines,
                                        std::optional<double> lastWidth) {
  std::vector<TextLine> result;
  if (text.isEmpty() || lines <= 0) return result;
  for (const double advance : kAdvances) {
    // Only the part that can be visible is shaped. A document can have thousands of words, and a card a few
    // lines.
    const QString seen = text.left(static_cast<qsizetype>(width / advance * (lines + 1)));
    const bool isAll = seen.size() == text.size() || advance == kAdvances.back();
    QTextLayout layout(seen, font);
    std::vector<std::pair<int, int>> places;  // first character and length
    bool goesOn = false;
    layout.beginLayout();
    while (static_cast<int>(places.size()) < lines) {
      QTextLine line = layout.createLine();
      if (!line.isValid()) break;
      line.setLineWidth(width);
      places.emplace_back(line.textStart(), line.textLength());
      goesOn = line.textStart() + line.textLength() < seen.size();
    }
    layout.endLayout();
    // The shaped part does not fill the lines, so more of the text can be visible.
    if (!isAll && !goesOn) continue;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto [from, length] = places[i];
      const bool last = static_cast<int>(i) == lines - 1;
      const QString shown = last ? seen.mid(from) : seen.mid(from, length);
      result.push_back(line(shown.trimmed(), font, last ? lastWidth.value_or(width) : width));
    }
    break;
  }
  return result;
}

}  // namespace spanscope::ui
