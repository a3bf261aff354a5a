// SPDX-License-Identifier: GPL-3.0-or-later
// The list from which a person chooses a new node: a search line, and the operators that fit, each with a
// short help.
#pragma once

#include "ui/editor/node_paint.h"

#include <QFrame>
#include <QPoint>
#include <QString>

#include <string>
#include <vector>

class QLabel;
class QLineEdit;
class QListWidget;

namespace spanscope::ui {

class AddPopup : public QFrame {
  Q_OBJECT
 public:
  explicit AddPopup(QWidget* parent);

  /// Opens the list and gives the search line the focus. `caption` says what choosing an operator does.
  /// `whyUnfit` says why an operator is not in the list.
  void open(const std::vector<std::string>& operators, const QString& caption, QPoint at, const Theme& theme,
            std::function<QString(const std::string&)> whyUnfit);

 Q_SIGNALS:
  void chosen(const QString& op);
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void filter(const QString& text);
  void step(int by);
  void choose();
  void shut();
  void showHelp();

  std::vector<std::string> m_operators;
  std::function<QString(const std::string&)> m_whyUnfit;
  Theme m_theme;
  QLabel* m_caption;
  QLineEdit* m_search;
  QListWidget* m_list;
  QLabel* m_help;
};

/// Gives an overlay (popup, find bar, line edit) the colours of the theme.
void applyTheme(QWidget& widget, const Theme& theme);

}  // namespace spanscope::ui
