// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/editor/text_setter.h"
#include "ui/theme/theme.h"

#include <QBrush>
#include <QColor>
#include <QFont>

#include <array>
#include <memory>

namespace spanscope::ui {

/// The colours, fonts and brushes of a theme, made once for many paintings.
struct CanvasStyle {
  explicit CanvasStyle(const Theme& theme);
  Theme theme;
  QColor surface, canvas, grid, outline, wire, text, textSecond, textThird, accent, accentFill, error,
      errorFill;
  QColor hit, computed, line;
  QFont titleFont, bodyFont, smallFont, monoFont;
  /// For the bar of served tokens: the ink of a role. servedPattern() lies over it.
  QBrush servedInk(BlockRole role) const;
  QBrush servedPattern(BlockRole role) const;  ///< no brush: plain
  /// As Theme::segmentPattern.
  const QBrush& segmentPattern(std::size_t segment) const;

  /// Lays out texts in these fonts.
  TextSetter& setter() const { return *m_setter; }

 private:
  std::shared_ptr<TextSetter> m_setter = std::make_shared<TextSetter>();
  QBrush m_relocatedPattern;
  QBrush m_computedPattern;
  std::array<QBrush, 4> m_segmentPatterns;  ///< one for each round of hues; later rounds use the last one
};

}  // namespace spanscope::ui
