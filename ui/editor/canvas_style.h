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

/// Colours, fonts and brushes of a theme, made once.
struct CanvasStyle {
  explicit CanvasStyle(const Theme& theme);
  Theme theme;
  QColor surface, canvas, grid, outline, wire, text, textSecond, textThird, accent, accentFill, error,
      errorFill;
  QColor hit, computed, line;
  QFont titleFont, bodyFont, smallFont, monoFont;
  /// Of the bar of served tokens: the ink of the role with the surface's pattern over it.
  QBrush servedInk(BlockRole role) const;
  QBrush servedPattern(BlockRole role) const;  ///< no brush: plain
  /// As Theme::segmentPattern.
  const QBrush& segmentPattern(std::size_t segment) const;

  /// Sets texts in these fonts.
  TextSetter& setter() const { return *m_setter; }

 private:
  std::shared_ptr<TextSetter> m_setter = std::make_shared<TextSetter>();
  QBrush m_relocatedPattern;
  QBrush m_computedPattern;
  std::array<QBrush, 4> m_segmentPatterns;  ///< of each round of hues; the last one goes on
};

}  // namespace spanscope::ui
