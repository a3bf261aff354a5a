// SPDX-License-Identifier: GPL-3.0-or-later
// A page of the Measure layout on which a document is measured: a row of choices with the button that begins
// and stops, the progress, a table of figures, and remarks. What is measured is for the page itself.
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

/// A table of results. It is as high as its rows, so that the area around it scrolls. Columns are as wide as
/// their texts, and fill the width.
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
  /// Copies what is shown to the clipboard as text.
  void copy() const;

 protected:
  /// What the page shows of a measurement, whatever it measures.
  struct Shown {
    bool isKnown = false;  ///< there is a measurement, ended or still running
    bool isRunning = false;
    double progress = 0;  ///< 0 … 1
    QString doing;        ///< while it runs
    QString setup;        ///< on what it is measured
    QStringList warnings;
    QStringList remarks;
    PaintedTable table;
    QString run;      ///< the button's text; while it runs it is "Stop"
    QString runHelp;  ///< the button's tool tip, as it is now
  };

  MeasurePage(InputParts parts, const QString& name, QWidget* parent);

  /// Lays the page out. `controls`: the row of choices, with runButton() among them. `results` becomes the
  /// scrolled part; makeTexts() stands somewhere in it. More may be added below what this returns.
  QVBoxLayout* layOut(const std::vector<QWidget*>& controls, QWidget* results);
  QWidget* runButton();
  /// Setup, table and remarks, one below the other; their parent is `results`.
  QVBoxLayout* makeTexts(const QString& tableName, QWidget* results);
  void showMeasured(const Shown& shown);
  /// Writes a text below `y` in pixels, `width` wide, and moves `y` below it.
  void write(QPainter& painter, const QString& text, int width, int height, int& y) const;

  void setCopyHelp(const QString& help);
  /// What can be measured here, until something is.
  virtual QString introduction() const = 0;
  /// What copy() copies.
  virtual QString text() const = 0;
  /// The command that begins what the choices say.
  virtual QString command() const = 0;

  void paintEvent(QPaintEvent* event) override;

 private:
  std::optional<Theme> m_theme;  ///< the theme of the widgets' present content
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

// Widgets that the pages for measurements share.

inline constexpr int kProgressSteps = 1000;
inline constexpr int kResultRowHeight = 26;

/// A thin progress bar from 0 to kProgressSteps. It starts hidden.
QProgressBar* makeMeasureProgress(QWidget* parent);

/// A scroll area without a frame, in the colour of the page. It scrolls `results` if they are higher than the
/// area.
QScrollArea* makeResultScroll(QWidget* results, QWidget* parent);

}  // namespace spanscope::ui
