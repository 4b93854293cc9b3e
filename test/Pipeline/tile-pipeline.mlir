// RUN: not tile-opt %s --tile-pipeline="target=abacus" 2>&1 | FileCheck %s
// CHECK: error: expected a target ({{.*}}), got 'abacus'
module {}
