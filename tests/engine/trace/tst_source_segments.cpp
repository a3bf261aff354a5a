// SPDX-License-Identifier: GPL-3.0-or-later
// Which segments of a prompt are documents, under each policy.
#include "engine/trace/source_shares.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;
using trace::SegmentInfo;

namespace {

SegmentInfo segment(std::uint32_t scope, bool independent, bool hidden = false) {
  SegmentInfo info;
  info.scope = scope;
  info.depth = scope == 0 ? 0 : 1;
  info.independent = independent;
  info.hidden = hidden;
  return info;
}

}  // namespace

class TestSourceSegments : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void areTheDocuments_data() {
    QTest::addColumn<std::vector<SegmentInfo>>("segments");
    QTest::addColumn<std::vector<bool>>("sources");
    using Segments = std::vector<SegmentInfo>;
    using Sources = std::vector<bool>;
    const SegmentInfo system = segment(0, false);
    QTest::newRow("spans") << Segments{system, segment(1, true), segment(2, true), system}
                           << Sources{false, true, true, false};
    QTest::newRow("a part within a document")
        << Segments{system, segment(1, true), segment(2, true), segment(1, false), system}
        << Sources{false, true, true, false, false};
    QTest::newRow("linked beginnings")
        << Segments{system, segment(1, true), segment(2, false), segment(2, true), system}
        << Sources{false, true, true, true, false};
    QTest::newRow("blended copies") << Segments{system,
                                                segment(1, true, true),
                                                segment(2, true, true),
                                                segment(1, false),
                                                segment(2, false),
                                                system}
                                    << Sources{false, false, false, true, true, false};
    QTest::newRow("behind a prefix") << Segments{system, segment(1, false), segment(2, false), system}
                                     << Sources{false, true, true, false};
    QTest::newRow("one segment") << Segments{system} << Sources{false};
  }
  void areTheDocuments() {
    QFETCH(std::vector<SegmentInfo>, segments);
    QFETCH(std::vector<bool>, sources);
    QCOMPARE(trace::sourceSegments(segments), sources);
  }
};

SPANSCOPE_TEST(tst_source_segments, TestSourceSegments)
#include "tst_source_segments.moc"
