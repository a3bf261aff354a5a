// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of horizontal bars with a name and a value each. Open this file to change how the bars look.
#pragma once

#include "ui/views/common/block_painter.h"
#include "ui/views/common/scrolled_items.h"

#include <QString>

#include <optional>
#include <vector>

namespace spanscope::ui {

struct LogBar {
  QString name;
  QString value;
  double length = 0;  ///< 0 … 1
  double rest = 0;    ///< length of the second part of the bar, 0 … 1
  BlockRole role = BlockRole::Computed;
  BlockRole restRole = BlockRole::Hit;
  QString help{};                        ///< second line; may be empty
  std::optional<std::size_t> request{};  ///< the request that a click chooses
  QString quality{};                     ///< measured quality of a way; empty: none
  bool operator==(const LogBar&) const = default;
};

struct LogBarGroup {
  QString title;
  QString help;  ///< one sentence below the title
  std::vector<LogBar> bars;
  bool operator==(const LogBarGroup&) const = default;
};

/// Each bar is an item. Bars of a group have one scale.
class LogBars : public ScrolledItems {
  Q_OBJECT
 public:
  explicit LogBars(QWidget* parent = nullptr);

  void show(std::vector<LogBarGroup> groups, const Theme& theme);
  const std::vector<LogBarGroup>& groups() const { return m_groups; }
  /// nullptr: no such bar.
  const LogBar* barAt(int item) const;

 protected:
  std::vector<QRect> layOut(int width) const override;
  void paintItems(QPainter& painter, const std::vector<QRect>& places, const QRect& visible) const override;

 private:
  int helpHeight(const QString& help, int width) const;

  std::vector<LogBarGroup> m_groups;
  BlockPainter m_blocks;
};

}  // namespace spanscope::ui
