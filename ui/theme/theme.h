// SPDX-License-Identifier: GPL-3.0-or-later
// Every colour, pattern, font and distance of the window, by role. Views ask by role and hold no literal
// colour. One role has one meaning everywhere.
#pragma once

#include <QBrush>
#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>

#include <cstddef>

namespace spanscope::ui {

enum class Scheme { Light, Dark };

enum class Role {
  Window,   ///< behind everything
  Surface,  ///< docks, nodes, menus
  Canvas,   ///< the node canvas, read-only text
  Grid,     ///< dots of the canvas, hairlines of plots
  Line,     ///< borders of docks, rules of tables
  Outline,  ///< controls, nodes
  Wire,     ///< wires and ports of the canvas, which have to be followed
  Text,
  TextSecond,  ///< labels, text in nodes
  TextThird,   ///< counts, hints
  Accent,      ///< selection, focus, the one primary button
  AccentText,  ///< on the accent
  AccentFill,  ///< behind what is selected
  HitInk,
  HitFill,
  RelocatedInk,
  RelocatedFill,
  ComputedInk,
  ComputedFill,
  EvictedInk,
  EvictedFill,
  Error,
  ErrorFill,
};

/// How a block came to be in its place, or what became of it.
enum class BlockRole {
  Free,
  Hit,
  Relocated,
  Computed,
  Evicted,
};

/// Number of hues that tell segments apart; the ninth segment has the hue of the first, with a pattern.
inline constexpr std::size_t kSegmentHues = 8;

/// Steps of space in pixels: multiples of 4.
inline constexpr int kSpace = 4;
inline constexpr int kDockRadius = 6;
inline constexpr int kDockTitleHeight = 30;

class Theme {
 public:
  explicit Theme(Scheme scheme = Scheme::Light) : m_scheme(scheme) {}

  Scheme scheme() const { return m_scheme; }
  QColor color(Role role) const;
  QColor segmentInk(std::size_t segment) const;  ///< by the segment's identity, from 0
  QColor segmentTint(std::size_t segment) const;
  /// Over the ink or the tint of segments beyond the first kSegmentHues, which have the hues of those; a
  /// brush with a texture in the colour of the surface. None for the first ones.
  QBrush segmentPattern(std::size_t segment) const;

  QColor ink(BlockRole role) const;
  QColor fill(BlockRole role) const;
  /// Lines or dots over the fill, so that the state does not hang on colour alone: none for Hit and Free,
  /// diagonals for Relocated, dots for Computed, counter-diagonals for Evicted. A brush with a texture for
  /// painting over `fill`.
  QBrush pattern(BlockRole role) const;
  /// What a person calls the state: "hit", "relocated hit", "computed", "evicted", "free".
  static QString name(BlockRole role);

  /// Cividis at t = 0 … 1.
  static QColor heat(double t);

  QFont interfaceFont() const;  ///< Inter 13 px
  QFont titleFont() const;      ///< Inter 12 px semi-bold: titles of docks
  QFont smallFont() const;      ///< Inter 11 px: counts and hints
  QFont monoFont() const;       ///< JetBrains Mono 11 px: tokens, numbers in tables, JSON

  QPalette palette() const;
  /// Style sheet of the whole application: controls, docks, tabs, tables, menus.
  QString styleSheet() const;

  bool operator==(const Theme&) const = default;

 private:
  Scheme m_scheme;
};

/// The scheme that the desktop asks for: its portal's word (org.freedesktop.appearance color-scheme, over
/// D-Bus), else what the palette's lightness says.
Scheme systemScheme();

}  // namespace spanscope::ui
