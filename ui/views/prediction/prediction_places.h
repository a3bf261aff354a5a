// SPDX-License-Identifier: GPL-3.0-or-later
// The places that could run the document next, and the cache hits there. Places are the embedded cache with
// the document's policy, servers of each kind, and servers of the user's list.
#pragma once

#include "ui/views/common/table_view.h"
#include "ui/views/prediction/prediction_table.h"

#include <QString>

#include <vector>

class QAction;

namespace spanscope::ui {

/// The id of the embedded cache.
QString placeHere();
/// The id of the place where the document runs.
QString ownPlace(const document::Document& document);

/// All places, in the order of the list. The first place is the embedded cache.
std::vector<PredictionPlace> predictionPlaces(const ViewInput& input, Against against,
                                              const AskedSimulators* simulators);

/// The steps of a cache simulator, in the form of the steps of the embedded cache.
std::vector<PredictionStep> simulatorSteps(const ViewInput& input, const AskedSimulators& asked,
                                           const workbench::SimulatorPrediction& simulator, Against against);

class PlaceDelegate;

/// Lists the predicted cache hits at each place. The user chooses the place that the prediction view shows.
class PlaceList : public TableView {
  Q_OBJECT
 public:
  explicit PlaceList(QWidget* parent = nullptr);

  void showPlaces(const PredictionTable& table, const Theme& theme);
  const std::vector<PredictionPlace>& places() const { return m_list; }
  /// Sets whether the list hides the reasons, for a narrow place beside the prediction.
  void setNarrow(bool narrow);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void placeChosen(const QString& id);
  /// The user wants to see the cache of a cache simulator as a run.
  void blocksWanted(const QString& id);

 private:
  std::vector<PredictionPlace> m_list;
  PaintedTableModel* m_model;
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
