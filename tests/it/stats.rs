//! Statistics: golden values, simulations, closed forms.
