// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/common/table_view.h"
#include "ui/views/prediction/prediction_table.h"

#include <QAbstractTableModel>

#include <vector>

class QAction;

namespace spanscope::ui {

/// The places of a prediction, one row each.
class PlaceModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Found, Why, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;

  void setPlaces(std::vector<PredictionPlace> places);
  const std::vector<PredictionPlace>& places() const { return m_places; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  QString text(const PredictionPlace& place, int column) const;

  std::vector<PredictionPlace> m_places;
};

class PlaceDelegate;

/// Lists the predicted cache hits at each place. The user chooses the place that the prediction view shows.
class PlaceList : public TableView {
  Q_OBJECT
 public:
  explicit PlaceList(QWidget* parent = nullptr);

  void showPlaces(const PredictionTable& table, const Theme& theme);
  const PlaceModel& places() const { return *m_model; }
  /// Sets whether the list hides the reasons, for a narrow place beside the prediction.
  void setNarrow(bool narrow);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void placeChosen(const QString& id);
  /// The user wants to see the cache of a cache simulator as a run.
  void blocksWanted(const QString& id);

 private:
  PlaceModel* m_model;
  PlaceDelegate* m_delegate;
  QAction* m_report;  ///< shows the cache of the selected place as a run
};

/// Whether a cache simulator predicts this place, so that the simulator's cache can be shown as a run.
bool canTrace(const PredictionPlace& place);
/// "2624 of 4539"
QString foundText(const PredictionPlace& place);
/// The tool tip of the row, in sentences.
QString placeTip(const PredictionPlace& place);

}  // namespace spanscope::ui
