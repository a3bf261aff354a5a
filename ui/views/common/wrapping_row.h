// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>
#include <QList>

namespace spanscope::ui {

/// Lays out widgets in a row. A widget that does not fit begins another line. Each widget gets at least its
/// preferred width, unless the whole row is narrower. Widgets that can grow share the rest of their line.
class WrappingRow : public QLayout {
 public:
  explicit WrappingRow(QWidget* parent = nullptr);
  ~WrappingRow() override;

  void addItem(QLayoutItem* item) override;
  int count() const override { return static_cast<int>(m_items.size()); }
  QLayoutItem* itemAt(int index) const override { return m_items.value(index); }
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize minimumSize() const override;
  QSize sizeHint() const override;
  void setGeometry(const QRect& area) override;

 private:
  /// Lays out the items in the area, if `isApplied`. Returns the height of all lines.
  int layOut(const QRect& area, bool isApplied) const;

  QList<QLayoutItem*> m_items;  ///< owned, as in every QLayout
};

}  // namespace spanscope::ui
