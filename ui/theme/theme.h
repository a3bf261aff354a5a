// SPDX-License-Identifier: GPL-3.0-or-later
// Every colour, pattern, font and distance of the window, by role. Views use roles, and never a literal
// colour. A role has the same meaning everywhere.
#pragma once

#include <QBrush>
#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>
#include <QVariant>

#include <cstddef>

namespace spanscope::ui {

enum class Scheme { Light, Dark };

enum class Role {
  Window,   ///< background of everything
  Surface,  ///< docks, nodes, menus
  Canvas,   ///< the node canvas, read-only text
  Grid,     ///< dots of the canvas, hairlines of plots
  Line,     ///< borders of docks, rules of tables
  Outline,  ///< controls, nodes
  Wire,     ///< wires and ports of the canvas, with more contrast than Line
  Text,
  TextSecond,  ///< labels, text in nodes
  TextThird,   ///< counts, hints
  Accent,      ///< selection, focus, the one primary button
  AccentText,  ///< text on the accent colour
  AccentFill,  ///< background of a selection
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

/// How a block got its content, or what happened to the content.
enum class BlockRole {
  Free,
  Hit,
  Relocated,
  Computed,
  Evicted,
};

/// Number of hues of segments. The ninth segment has the hue of the first, with a pattern.
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
  QColor segmentInk(std::size_t segment) const;  ///< by the hue of the segment's identity, from 0
  QColor segmentTint(std::size_t segment) const;
  /// The pattern to paint over the ink or the tint of a segment. The first kSegmentHues segments have no
  /// pattern. Later segments repeat the hues, and differ by the pattern. The pattern is a textured brush in
  /// the colour of the surface.
  QBrush segmentPattern(std::size_t segment) const;

  QColor ink(BlockRole role) const;
  QColor fill(BlockRole role) const;
  /// The pattern to paint over fill(), so that the state does not depend on colour alone. Hit and Free have
  /// no pattern. Relocated has diagonals, Computed has dots, and Evicted has counter-diagonals. The pattern
  /// is a textured brush.
  QBrush pattern(BlockRole role) const;
  /// The name of a state for the user: "hit", "relocated hit", "computed", "evicted", "free".
  static QString name(BlockRole role);

  /// The colour map Cividis at t = 0 … 1.
  static QColor heat(double t);

  QFont interfaceFont() const;  ///< Inter 13 px
  QFont titleFont() const;      ///< Inter 12 px semi-bold: titles of docks
  QFont smallFont() const;      ///< Inter 11 px: counts and hints
  QFont monoFont() const;       ///< JetBrains Mono 11 px: tokens, numbers in tables, JSON

  QPalette palette() const;
  /// The style sheet of the whole application: controls, docks, tabs, tables, menus.
  QString styleSheet() const;

  bool operator==(const Theme&) const = default;

 private:
  Scheme m_scheme;
};

/// The colour scheme that the desktop requests. The desktop's portal reports it over D-Bus
/// (org.freedesktop.appearance color-scheme). Otherwise, the lightness of the palette decides.
Scheme systemScheme();

/// A setting that the desktop's portal reports over D-Bus; invalid if the portal does not report it. The call
/// waits at most a quarter of a second for an answer.
QVariant portalSetting(const QString& space, const QString& key);

/// Whether the desktop allows animations. The desktop's portal reports two settings over D-Bus:
/// org.freedesktop.appearance reduced-motion, and GNOME's org.gnome.desktop.interface enable-animations. If
/// the portal reports neither setting, animations are allowed. The result is kept for five seconds, because
/// every mouse move needs the result.
bool desktopAllowsMotion();

}  // namespace spanscope::ui
