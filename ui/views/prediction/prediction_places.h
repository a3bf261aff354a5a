// SPDX-License-Identifier: GPL-3.0-or-later
// The places that could run the document next, and the cache hits there. Places are the embedded cache with
// the document's policy, servers of each kind, and servers of the user's list.
#pragma once

#include "ui/views/prediction/prediction_table.h"

#include <QString>

#include <vector>

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

}  // namespace spanscope::ui
