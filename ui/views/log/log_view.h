// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the log as a table.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/segment_names.h"

#include <QAbstractTableModel>
#include <QPointer>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

class QCheckBox;
class QComboBox;

namespace spanscope::ui {

// The lines of the log, one per event: only messages, runs and steps, or all events.

struct LogLine {
  std::int64_t time = 0;  ///< nanoseconds since the session started
  Severity severity = Severity::Note;
  RunId run = 0;  ///< 0: none
  QString text;
  bool operator==(const LogLine&) const = default;
};

/// The line of an event. Nothing for an event that appears only in the list of all events.
std::optional<LogLine> logLine(const ViewInput& input, const trace::Event& event);
/// The line of any event with its exact identifiers, for exports.
LogLine eventLine(const trace::Event& event);
QString severityText(Severity severity);

struct LogOptions {
  bool allEvents = false;  ///< if true, `least` has no effect
  Severity least = Severity::Note;
  bool operator==(const LogOptions&) const = default;
};

/// The log as an item model. Makes lines on request. A new input takes time only for its new events.
class LogModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Time, Kind, Run, Text, ColumnCount };

  explicit LogModel(QObject* parent = nullptr);

  void setInput(const ViewInput& input);
  void setOptions(const LogOptions& options);
  const LogOptions& options() const { return m_options; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  LogLine line(int row) const;
  /// The text of a line with exact identifiers, for its tool tip. The line has plain words.
  QString exactLine(int row) const;
  std::size_t eventIndex(int row) const;  ///< index of the row's event in the trace
  std::size_t warnings() const;           ///< in the whole log, not only in the shown lines
  std::size_t errors() const;
  QString csv() const;

 private:
  bool isShown(const trace::Event& event) const;
  void rebuild();
  /// The names for the current input, made once.
  EventNames& names() const;

  std::optional<ViewInput> m_input;
  mutable std::unique_ptr<EventNames> m_names;  ///< null: not needed yet
  LogOptions m_options;
  std::size_t m_seen = 0;           ///< number of events that m_rows covers
  std::vector<std::size_t> m_rows;  ///< event indices, unless all events are shown
};

class TableView;

class LogView : public RunView {
  Q_OBJECT
 public:
  explicit LogView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const LogModel& model() const { return *m_model; }
  TableView& table() { return *m_table; }
  void setOptions(const LogOptions& options);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void showCounts();
  void select(int row);
  void open(int row);

  LogModel* m_model;
  TableView* m_table;
  QPointer<QComboBox> m_least;
  QPointer<QCheckBox> m_all;
};

}  // namespace spanscope::ui
