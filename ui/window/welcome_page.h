// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/choices.h"

#include <QAbstractButton>
#include <QStringList>
#include <QWidget>

#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace spanscope::ui {

class ExampleCard;

/// The page that the window shows while no document is open: the examples, recent files, and how to begin.
class WelcomePage : public QWidget {
  Q_OBJECT
 public:
  explicit WelcomePage(const std::vector<Example>& examples, QWidget* parent = nullptr);

  /// Sets the paths of recent files, the newest first.
  void setRecentFiles(const QStringList& paths);
  void setTheme(const Theme& theme);
  void setKeys(const KeyTexts& keys);

 Q_SIGNALS:
  void openExample(const QString& file);  ///< name of a file in resources/queries
  void openFile(const QString& path);
  void newDocument();
  void openDialog();
  void openLog();
  void learn();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QLayout* makeHead();
  void placeCards();
  void styleRecentFiles();

  Theme m_theme;
  QScrollArea* m_area = nullptr;
  QWidget* m_page = nullptr;
  QLabel* m_title = nullptr;
  QLabel* m_sentence = nullptr;
  QLabel* m_examplesTitle = nullptr;
  QLabel* m_hint = nullptr;
  QLabel* m_recentTitle = nullptr;
  QLabel* m_noRecent = nullptr;
  QPushButton* m_learn = nullptr;
  QPushButton* m_new = nullptr;
  QPushButton* m_open = nullptr;
  QPushButton* m_log = nullptr;
  QGridLayout* m_grid = nullptr;
  QVBoxLayout* m_recent = nullptr;
  std::vector<ExampleCard*> m_cards;
  int m_columns = 0;
};

inline constexpr int kCardHeight = 84;  ///< pixels

/// A button for an example query, with its title and a line of text below.
class ExampleCard : public QAbstractButton {
  Q_OBJECT
 public:
  explicit ExampleCard(const Example& example, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  QSize sizeHint() const override { return {240, kCardHeight}; }
  QSize minimumSizeHint() const override { return {200, kCardHeight}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  Example m_example;
  Theme m_theme;
};

}  // namespace spanscope::ui
