// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/view.h"

namespace spanscope::ui {

// Each ViewInfo is defined in the file of its view.
ViewInfo addRow();
ViewInfo inspectorRow();
ViewInfo jsonRow();
ViewInfo problemsRow();
ViewInfo settingsRow();
ViewInfo tokensRow();
ViewInfo blockTableRow();
ViewInfo whyRow();
ViewInfo poolRow();
ViewInfo kvGrowthRow();
ViewInfo pagingRow();
ViewInfo prefixTreeRow();
ViewInfo attentionRow();
ViewInfo maskRow();
ViewInfo turnRow();
ViewInfo nextTokenRow();
ViewInfo attentionEntropyRow();
ViewInfo passagesRow();
ViewInfo outputRow();
ViewInfo predictionRow();
ViewInfo planRow();
ViewInfo timelineRow();
ViewInfo metricsRow();
ViewInfo benchmarkRow();
ViewInfo policiesRow();
ViewInfo probeRow();
ViewInfo experimentsRow();
ViewInfo compareRow();
ViewInfo logRow();
ViewInfo scrubberRow();
ViewInfo logRequestsRow();
ViewInfo logStripsRow();
ViewInfo logCostsRow();

const std::vector<ViewInfo>& viewTable() {
  static const std::vector<ViewInfo> table{
      addRow(),         inspectorRow(),        jsonRow(),      problemsRow(),  settingsRow(),
      tokensRow(),      blockTableRow(),       whyRow(),       poolRow(),      pagingRow(),
      kvGrowthRow(),    prefixTreeRow(),       attentionRow(), maskRow(),      turnRow(),
      nextTokenRow(),   attentionEntropyRow(), passagesRow(),  outputRow(),    predictionRow(),
      planRow(),        timelineRow(),         metricsRow(),   benchmarkRow(), policiesRow(),
      probeRow(),       experimentsRow(),      compareRow(),   logRow(),       scrubberRow(),
      logRequestsRow(), logStripsRow(),        logCostsRow()};
  return table;
}

}  // namespace spanscope::ui
