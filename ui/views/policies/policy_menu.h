// SPDX-License-Identifier: GPL-3.0-or-later
// A button with a menu in which a person checks the policies to compare.
#pragma once

#include <QStringList>
#include <QToolButton>

#include <string>
#include <vector>

class QMenu;

namespace spanscope::ui {

class PolicyMenu : public QToolButton {
  Q_OBJECT
 public:
  explicit PolicyMenu(QWidget* parent = nullptr);

  /// `own`: the document's policy as documents write it, which is always compared. `wanted`: names of those
  /// beside it.
  void setChosen(const std::string& own, const std::vector<std::string>& wanted);

 Q_SIGNALS:
  /// The names of all checked policies but the document's own, unless that was checked before.
  void chosen(const QStringList& names);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void tellChosen();

  QMenu* m_menu;
  std::string m_own;
  std::vector<std::string> m_wanted;
};

}  // namespace spanscope::ui
