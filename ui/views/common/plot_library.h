// SPDX-License-Identifier: GPL-3.0-or-later
// Includes QCustomPlot. The header of QCustomPlot needs Qt's lower-case keywords, which the code of the
// window turns off. This file turns on the keywords for that header only.
#pragma once

#pragma push_macro("signals")
#pragma push_macro("slots")
#pragma push_macro("foreach")
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#pragma pop_macro("foreach")
#pragma pop_macro("slots")
#pragma pop_macro("signals")
