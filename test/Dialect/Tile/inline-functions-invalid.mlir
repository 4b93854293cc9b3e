// Calls that cannot be inlined.
// RUN: tile-opt %s -tile-inline-functions=max-ops=3 -split-input-file -verify-diagnostics

// expected-note @below {{the function is here}}
func.func @even(%n: i32) -> i32 {
  %0 = func.call @odd(%n) : (i32) -> i32
  return %0 : i32
}
func.func @odd(%n: i32) -> i32 {
  // expected-error @below {{expected a call without recursion, got @even}}
  %0 = func.call @even(%n) : (i32) -> i32
  return %0 : i32
}
tile.kernel @k(%n: i32) {
  %0 = func.call @even(%n) : (i32) -> i32
  tile.return
}

// -----

// expected-note @below {{the function is here}}
func.func private @f(i32) -> i32
tile.kernel @k(%n: i32) {
  // expected-error @below {{expected a function with a body, got @f}}
  %0 = func.call @f(%n) : (i32) -> i32
  tile.return
}

// -----

// expected-note @below {{the function is here}}
func.func @f(%n: i32) {
  cf.br ^bb1
^bb1:
  return
}
tile.kernel @k(%n: i32) {
  // expected-error @below {{expected a function of one block that ends in func.return, got @f}}
  func.call @f(%n) : (i32) -> ()
  tile.return
}

// -----

func.func @two(%n: i32) {
  tile.print "once"
  tile.print "twice"
  return
}
func.func @four(%n: i32) {
  call @two(%n) : (i32) -> ()
  // expected-error @below {{expected at most 3 operations inlined into kernel @k}}
  call @two(%n) : (i32) -> ()
  return
}
tile.kernel @k(%n: i32) {
  func.call @four(%n) : (i32) -> ()
  tile.return
}
