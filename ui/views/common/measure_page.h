// SPDX-License-Identifier: GPL-3.0-or-later
// Base class for pages of the Measure layout that measure a document. Such a page has:
// - a row of choices with the button that starts and stops the measurement
// - the progress
// - a table of results
// - remarks.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/common/table_view.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QString;
class QToolButton;
class QVBoxLayout;
class QWidget;

namespace spanscope::ui {

/// A table of results. The table is as high as its rows, so the area around the table scrolls. Columns are as
/// wide as their texts, and fill the width.
class ResultTable : public TableView {
  Q_OBJECT
 public:
  explicit ResultTable(const QString& name, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  void setTable(PaintedTable table);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  PaintedTableModel* m_content;
};

class MeasurePage : public InputView {
  Q_OBJECT
 public:
  /// Copies the shown results to the clipboard as text.
  void copy() const;

 protected:
  /// The content of the page for a measurement.
  struct Shown {
    bool isKnown = false;  ///< there is a measurement, finished or running
    bool isRunning = false;
    double progress = 0;  ///< 0 … 1
    QString doing;        ///< status text while the measurement runs
    QString setup;        ///< the conditions of the measurement
    QStringList warnings;
    QStringList remarks;
    PaintedTable table;
    QString run;      ///< the button's text if nothing runs; else the text is "Stop"
    QString runHelp;  ///< the button's current tool tip
  };

  MeasurePage(InputParts parts, const QString& name, QWidget* parent);

  /// Lays out the page. `controls`: the row of choices, including runButton(). `results` becomes the content
  /// of the scroll area. This widget contains the layout of makeTexts(). The caller can add more below the
  /// returned layout.
  QVBoxLayout* layOut(const std::vector<QWidget*>& controls, QWidget* results);
  QWidget* runButton();
  /// Returns a column with setup, table and remarks. The parent of the widgets is `results`.
  QVBoxLayout* makeTexts(const QString& tableName, QWidget* results);
  void showMeasured(const Shown& shown);
  /// Writes a text below `y` in pixels, `width` wide, and moves `y` below it.
  void write(QPainter& painter, const QString& text, int width, int height, int& y) const;

  void setCopyHelp(const QString& help);
  /// Describes what this page measures. Shown until there is a measurement.
  virtual QString introduction() const = 0;
  /// The text that copy() copies.
  virtual QString text() const = 0;
  /// The command that starts the chosen measurement.
  virtual QString command() const = 0;

  void paintEvent(QPaintEvent* event) override;

 private:
  std::optional<Theme> m_theme;  ///< the theme of the widgets' current content
  bool m_isKnown = false;
  bool m_isRunning = false;
  QPushButton* m_run = nullptr;
  QToolButton* m_copy = nullptr;
  QLabel* m_doing = nullptr;
  QProgressBar* m_progress = nullptr;
  QScrollArea* m_scroll = nullptr;
  QLabel* m_setup = nullptr;
  ResultTable* m_table = nullptr;
  QLabel* m_remarks = nullptr;
};

// Widgets that several pages use.

inline constexpr int kProgressSteps = 1000;
inline constexpr int kResultRowHeight = 26;

/// A thin progress bar from 0 to kProgressSteps. The bar starts hidden.
QProgressBar* makeMeasureProgress(QWidget* parent);

/// A scroll area without a frame, in the colour of the page. The area scrolls `results` if that widget is
/// higher than the area.
QScrollArea* makeResultScroll(QWidget* results, QWidget* parent);

}  // namespace spanscope::ui
