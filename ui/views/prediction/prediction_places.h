// SPDX-License-Identifier: GPL-3.0-or-later
// Where the document's next run could be answered, and what would be found there: in the embedded cache as
// the document's policy uses it, by servers of each kind, and by servers of the person's list.
#pragma once

#include "ui/views/prediction/prediction_table.h"

#include <QString>

#include <vector>

namespace spanscope::ui {

/// The id of the embedded cache.
QString placeHere();
/// The id of the place that the document is run at.
QString ownPlace(const document::Document& document);

/// All places, in the order in which they are shown. The first is the embedded cache.
std::vector<PredictionPlace> predictionPlaces(const ViewInput& input, Against against,
                                              const AskedSimulators* simulators);

/// The steps of a twin, as those of the embedded cache are shown.
std::vector<PredictionStep> simulatorSteps(const ViewInput& input, const AskedSimulators& asked,
                                           const workbench::SimulatorPrediction& simulator, Against against);

}  // namespace spanscope::ui
